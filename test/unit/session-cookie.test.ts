import { expect, it, vi } from "vitest";

import { environmentNames } from "../../shared/platform/config.ts";
import { sessionCookieOf, setSessionCookie } from "../../shared/platform/http/session-cookie.ts";

it("with https the cookie is for one host and https only", () => {
  vi.stubEnv(environmentNames.apiUrl, "https://sms.example.com");
  expect(setSessionCookie("usr_1.x")).toBe(
    "__Host-session=usr_1.x; Path=/; HttpOnly; SameSite=Strict; Secure",
  );
  expect(setSessionCookie()).toBe("__Host-session=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0");
  const headers = { "x-console": "usr_1", "sec-fetch-site": "same-origin" };
  const valueOf = (cookie: string): string | undefined =>
    sessionCookieOf({ method: "POST", headers, cookies: [cookie] });
  expect(valueOf("__Host-session=usr_1.x")).toBe("usr_1.x");
  // Another host of the domain can set a cookie without the prefix.
  expect(valueOf("session=usr_1.x")).toBeUndefined();
});
