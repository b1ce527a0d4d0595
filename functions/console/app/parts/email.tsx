import type { JSX } from "preact";

/** An email address, or what may be one, which breaks before its @ where it needs two lines. */
export function Email({ of }: { of: string }): JSX.Element {
  const at = Math.max(of.lastIndexOf("@"), 0);
  return (
    <span class="break email">
      {of.slice(0, at)}
      <wbr />
      {of.slice(at)}
    </span>
  );
}
