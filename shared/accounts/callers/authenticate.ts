import { ApiError } from "../../api/contract/errors.ts";
import type { ProtectedRoute } from "../../api/routes/route.ts";
import { limitsOf, requireScope, requireSession, viewerOf, type Actor } from "../../platform/auth/actor.ts";
import { requireRecentProof } from "../../platform/auth/recent-proof.ts";
import { countUnknownCredential } from "../../platform/auth/unknown-credentials.ts";
import type { EndpointEvent, EndpointMiddleware } from "../../platform/http/event.ts";
import { countRequest, findRejectedCaller, tooManyRequests } from "../../platform/http/request-rate.ts";
import { bearerCredential } from "../../platform/http/response-headers.ts";
import { sessionCookieOf } from "../../platform/http/session-cookie.ts";
import { sourceAddress } from "../../platform/http/source-address.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { callerOfApiKey } from "./api-key-caller.ts";
import { callerOfCookie, callerOfSession } from "./session-caller.ts";

/** The caller of a request, and the organization's record as it was read for the request. */
export interface Caller {
  readonly actor: Actor;
  readonly organization: OrganizationRecord;
  /** Whether it is a session whose user has no second factor, although the organization requires one. */
  readonly lacksSecondFactor?: boolean;
  /** When the session of a browser ends without further requests. */
  readonly endsAt?: Date;
}

/**
 * Returns the middleware that finds the caller of a request, and checks that its credential is sufficient for the route.
 * @throws ApiError UNAUTHORIZED, ADDRESS_NOT_ALLOWED, RATE_LIMITED, ORGANIZATION_SUSPENDED, TEST_KEY_NOT_ALLOWED,
 *   INSUFFICIENT_SCOPE, SECOND_FACTOR_NOT_SET_UP, REAUTHENTICATION_REQUIRED
 */
export function authentication(route: ProtectedRoute): EndpointMiddleware {
  return {
    before: async ({ event }) => {
      const cookie = cookieOf(event, route);
      const credential = cookie ?? event.headers["authorization"] ?? "";
      const rejected = findRejectedCaller(credential);
      if (rejected !== undefined) {
        event.actor = rejected;
        throw tooManyRequests(rejected.organizationId);
      }
      const caller = await authenticate(event, cookie, route);
      const { actor, organization, lacksSecondFactor, endsAt } = caller;
      // The log shows rejected callers too.
      event.actor = actor;
      event.viewer = viewerOf(actor);
      event.organization = organization;
      if (endsAt !== undefined) event.browserSession = { endsAt };
      await countRequest(actor, credential);
      if (organization.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
      if (lacksSecondFactor === true && route.withoutSecondFactor !== true) {
        throw new ApiError("SECOND_FACTOR_NOT_SET_UP");
      }
      if (event.viewer.isTest && route.testKeys !== true) throw new ApiError("TEST_KEY_NOT_ALLOWED");
      if (limitsOf(actor) !== undefined && route.method !== "GET" && route.limitedKeys !== true) {
        throw new ApiError("INSUFFICIENT_SCOPE", { message: "An API key with limits cannot do this." });
      }
      if (route.scope === undefined) requireSession(actor);
      else requireScope(actor, route.scope);
      if (route.recentProof === true && actor.credential.type === "session") requireRecentProof(actor);
    },
  };
}

/** Returns the cookie of the console. Agents have no cookies. */
function cookieOf(event: EndpointEvent, { path }: ProtectedRoute): string | undefined {
  const { headers, cookies = [], requestContext } = event;
  return path === "/mcp"
    ? undefined
    : sessionCookieOf({ headers, cookies, method: requestContext.http.method });
}

/**
 * Resolves the cookie of the console, or else the Authorization header, to an actor. Session tokens and API keys have the
 * same scheme, whose name may have any case (RFC 9110, section 11.1). The end of a credential takes effect with the next
 * request. All reads are therefore consistent, except where a debit checks the organization too.
 * @throws ApiError UNAUTHORIZED, ADDRESS_NOT_ALLOWED; RATE_LIMITED instead of UNAUTHORIZED
 */
async function authenticate(
  event: EndpointEvent,
  cookie: string | undefined,
  { debits }: ProtectedRoute,
): Promise<Caller> {
  const { headers } = event;
  const address = sourceAddress(event);
  if (cookie !== undefined) return accepted(await callerOfCookie(cookie), address);
  const credential = bearerCredential(headers["authorization"]);
  if (credential === undefined) {
    const message = `${whatIsMissing(headers)} Send \`Authorization: Bearer <token or API key>\`.`;
    throw new ApiError("UNAUTHORIZED", { message });
  }
  const authenticated = credential.startsWith("nn_")
    ? await callerOfApiKey(credential, address, debits === true)
    : await callerOfSession(credential);
  return accepted(authenticated, address);
}

/** @throws ApiError UNAUTHORIZED; RATE_LIMITED instead */
export async function accepted(authenticated: Caller | Rejected, address: string): Promise<Caller> {
  if (typeof authenticated !== "string") return authenticated;
  throw await rejectionOf(authenticated, address);
}

/** Returns the error for a credential. @throws ApiError RATE_LIMITED when too many unknown ones came from the network */
export async function rejectionOf(rejected: Rejected, address: string): Promise<ApiError> {
  if (rejected !== "ended" && rejected !== "expired") await countUnknownCredential(address);
  return new ApiError("UNAUTHORIZED", { message: rejections[rejected] });
}

/** Why a credential is rejected: its form is wrong, it is unknown, it has ended, or its session has expired. */
export type Rejected = keyof typeof rejections;

/** One text for credentials that ended and for unknown ones, so that it does not reveal whether a credential existed. */
const notValid =
  "This credential is not valid: it does not exist, was disabled, or has ended. Check that all of it was copied, or make a new one.";
const rejections = {
  malformed:
    "This is neither a session token nor an API key. A session token is the `token` of a registration or a login; an API key begins with `nn_` or `nn_test_`, followed by 38 characters.",
  expired: "This session has expired. Log in again for a new token.",
  ended: notValid,
  unknown: notValid,
} as const;

/** Headers in which other APIs expect their keys. */
const otherHeaders = ["x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token"];

/** Returns why a request has no valid Authorization header. */
function whatIsMissing(headers: Readonly<Record<string, string | undefined>>): string {
  const { authorization = "" } = headers;
  if (authorization.trim() === "") {
    const other = otherHeaders.find((name) => headers[name] !== undefined);
    return other === undefined
      ? "The header Authorization is missing or empty."
      : `The header ${other} is not read.`;
  }
  if (!/^Bearer( |$)/i.test(authorization)) return "The header Authorization does not begin with `Bearer`.";
  if (/^Bearer *$/i.test(authorization)) return "There is no credential after `Bearer`.";
  return "The text after `Bearer` is not a single credential: it has a space in it.";
}
