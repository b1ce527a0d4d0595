import { loginInBrowser } from "../../shared/accounts/authentication/login.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import { isFromConsole, sessionCookieOf } from "../../shared/platform/http/session-cookie.ts";

export const handler = publicEndpoint(routes.createSession, async (call) => {
  if (!isFromConsole(call)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "Only the console may do this. Log in for a token.",
    });
  }
  // A page may show another user than the cookie, whose secret is proof enough to end its session.
  const cookie = sessionCookieOf({ ...call, headers: { ...call.headers, "x-console": "new" } });
  const browser = { userAgent: call.headers["user-agent"], cookie };
  const started = await loginInBrowser(call.body, call.sourceIp, browser);
  call.startBrowserSession(started.cookie, started.endsAt);
  return started.account;
});
