/*
 * Checks of what a request is made of, before it is sent. An HTTP library quotes a value that it rejects. No error here does
 * so, because the value may be a secret.
 */

/** Returns a value for a header without the white space around it. @throws TypeError if it is blank, or not printable ASCII */
export function headerText(name: string, value: unknown): string {
  const trimmed = typeof value === "string" ? value.trim() : "";
  if (!/^[\x20-\x7e]+$/.test(trimmed)) throw new TypeError(`${name} must be printable ASCII, and not blank`);
  return trimmed;
}

/** Returns headers with checked names and values. @throws TypeError */
export function headersOf(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const checked = Object.entries(headers).map(([name, value]) => {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new TypeError("the name of a header is not valid");
    return [name, headerText(`the header ${name}`, value)];
  });
  return Object.fromEntries(checked);
}

/** Returns an http or https address without the white space around it. @throws TypeError */
export function webAddress(name: string, value: unknown): string {
  const trimmed = typeof value === "string" ? value.trim() : "";
  const url = /^https?:/i.test(trimmed) && URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url === undefined) throw new TypeError(`${name} must be an http or https address`);
  if (url.username !== "" || url.password !== "")
    throw new TypeError(`${name} must not have a user name or a password`);
  return trimmed;
}
