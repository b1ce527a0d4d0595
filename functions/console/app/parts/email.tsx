/** An email address or name that wraps before its @. */
export function Email({ of }: { of: string }) {
  const at = Math.max(of.lastIndexOf("@"), 0);
  return (
    <span class="break email">
      {of.slice(0, at)}
      <wbr />
      {of.slice(at)}
    </span>
  );
}
