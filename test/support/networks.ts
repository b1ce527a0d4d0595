/** Returns the address of a caller in a network that no test has called from. */
export function newNetwork(): string {
  const [a, b, c] = crypto.getRandomValues(new Uint16Array(3));
  return `2001:${a?.toString(16)}:${b?.toString(16)}:${c?.toString(16)}::1`;
}
