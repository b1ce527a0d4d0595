import { loginInBrowser } from "../../shared/accounts/authentication/login.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import { anySessionCookieOf, isFromConsole } from "../../shared/platform/http/session-cookie.ts";

export const handler = publicEndpoint(routes.createSession, async (call) => {
  if (!isFromConsole(call)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "Only the console may do this. Log in for a token.",
    });
  }
  // The page may show another user, but the secret of the cookie is proof enough to end its session.
  const browser = { userAgent: call.headers["user-agent"], cookie: anySessionCookieOf(call) };
  const started = await loginInBrowser(call.body, call.sourceIp, browser);
  call.startBrowserSession(started.cookie, started.endsAt);
  return started.account;
});
