import type { JSX } from "preact";

/** An email address, which breaks before its @ where it needs two lines. */
export function Email({ of }: { of: string }): JSX.Element {
  const at = of.lastIndexOf("@");
  return (
    <span class="break">
      {of.slice(0, at)}
      <wbr />
      {of.slice(at)}
    </span>
  );
}
