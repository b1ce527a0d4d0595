/** Returns the URL of an address of the gateway, which may be under a path prefix. */
export function urlOf(address: string): string {
  const root = document.documentElement.dataset["root"] ?? "/";
  return new URL(root + address.replace(/^\//, ""), location.href).href;
}
