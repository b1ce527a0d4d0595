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
  const browser = { userAgent: call.headers["user-agent"], cookie: sessionCookieOf(call) };
  const { account, cookie, endsAt } = await loginInBrowser(call.body, call.sourceIp, browser);
  call.startBrowserSession(cookie, endsAt);
  return account;
});
