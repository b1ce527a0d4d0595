import type { ApiError, RateLimitStatus } from "../../api/contract/errors.ts";
import { secondMs } from "../clock.ts";

type Headers = Readonly<Record<string, string>>;

/** Returns the credential of an Authorization header. The name of its scheme may have any case (RFC 9110, section 11.1). */
export function bearerCredential(authorization = ""): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}

/**
 * Returns the headers of an error.
 * @param authorization the header of the request
 */
export function errorHeaders(error: ApiError, authorization: string | undefined): Headers {
  const { retryAfterSeconds, rateLimit, allowedMethods } = error.facts;
  const challenge = challengeOf(error, authorization);
  return {
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
    ...(rateLimit === undefined ? {} : rateLimitHeaders(rateLimit)),
    ...(allowedMethods === undefined ? {} : { Allow: allowedMethods.join(", ") }),
    ...(error.code === "UNSUPPORTED_MEDIA_TYPE" ? { "Accept-Encoding": "identity" } : {}),
    ...(challenge === undefined ? {} : { "WWW-Authenticate": challenge }),
  };
}

/** Returns the headers that report a rate limit, as draft-ietf-httpapi-ratelimit-headers-10 defines them. */
export function rateLimitHeaders({ name, max, windowMs, remaining, resetSeconds }: RateLimitStatus): Headers {
  return {
    "RateLimit-Policy": `"${name}";q=${max};w=${windowMs / secondMs}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}

/** Returns the challenge of RFC 6750, section 3, which names an error only when the request had a credential. */
function challengeOf({ code, facts }: ApiError, authorization: string | undefined): string | undefined {
  if (code === "UNAUTHORIZED") {
    return bearerCredential(authorization) === undefined ? "Bearer" : 'Bearer error="invalid_token"';
  }
  if (code !== "INSUFFICIENT_SCOPE") return undefined;
  const scope = facts.requiredScope === undefined ? "" : `, scope="${facts.requiredScope}"`;
  return `Bearer error="insufficient_scope"${scope}`;
}
