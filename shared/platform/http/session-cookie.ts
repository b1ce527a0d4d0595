import { config } from "../config.ts";

/*
 * The cookie with the session of the console. Scripts cannot read it, and it counts only in requests of the console itself.
 */

/**
 * The header of the console's requests. Forms cannot add it, and other origins may not. Its value is the id of the user that the
 * page shows, or `new` before it knows one. So the page of one user never acts as another.
 */
const consoleHeader = "x-console";

interface ConsoleRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies: readonly string[];
}

/** Returns the name of the cookie. Browsers send cookies to all ports of a host, so a local gateway's has its port. */
function cookieName(): string {
  const { protocol, port } = new URL(config.apiUrl());
  return protocol === "https:" ? "__Host-session" : `session-${port}`;
}

/** Returns the Set-Cookie header of a session, which ends with the browser; without a value, the one that deletes it. */
export function setSessionCookie(value?: string): string {
  const name = cookieName();
  const attributes = ["Path=/", "HttpOnly", "SameSite=Strict"];
  if (name.startsWith("__Host-")) attributes.push("Secure");
  if (value === undefined) attributes.push("Max-Age=0");
  return [`${name}=${value ?? ""}`, ...attributes].join("; ");
}

/** Whether a request comes from the console. Browsers name the origin of each request; scripts cannot change that. */
export function isFromConsole({ headers, method }: ConsoleRequest): boolean {
  const { [consoleHeader]: user, "sec-fetch-site": site, origin } = headers;
  if (user === undefined) return false;
  if (site !== undefined) return site === "same-origin";
  // An older browser, which names its origin only in changes.
  return origin === undefined ? method === "GET" : origin === new URL(config.apiUrl()).origin;
}

/**
 * Returns the value of the cookie that authenticates a request. It has none if it does not come from the console, or has an
 * Authorization header, or if its page shows another user.
 */
export function sessionCookieOf(request: ConsoleRequest): string | undefined {
  const { headers } = request;
  if (headers["authorization"] !== undefined || !isFromConsole(request)) return undefined;
  const value = anySessionCookieOf(request);
  const user = headers[consoleHeader] ?? "";
  return user === "new" || value?.startsWith(`${user}.`) === true ? value : undefined;
}

/** Returns the value of the browser's cookie, also if the page shows another user. It authenticates nothing. */
export function anySessionCookieOf({ cookies }: Pick<ConsoleRequest, "cookies">): string | undefined {
  const prefix = `${cookieName()}=`;
  return cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length);
}
