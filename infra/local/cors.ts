import type { IncomingHttpHeaders } from "node:http";

import type { CorsConfiguration } from "./template.ts";

/*
 * CORS as an HTTP API does it: it answers preflight requests by itself, and adds its headers to what functions answer.
 * Whether a page may call is then up to the browser; a request is never refused.
 */

/** Whether a request asks, on behalf of a page, if another one would be allowed. */
export function isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

/** The headers of the answer to a preflight request; none for a page that may not call. */
export function preflightHeaders(
  cors: CorsConfiguration,
  origin: string | undefined,
): Record<string, string> {
  return withAllowedOrigin(cors, origin, {
    "access-control-allow-methods": cors.AllowMethods.join(","),
    "access-control-allow-headers": cors.AllowHeaders.join(","),
    "access-control-max-age": String(cors.MaxAge),
  });
}

/** What is added to a function's answer; nothing where no page asks that may call. */
export function responseHeaders(cors: CorsConfiguration, origin: string | undefined): Record<string, string> {
  return withAllowedOrigin(cors, origin, { "access-control-expose-headers": cors.ExposeHeaders.join(",") });
}

function withAllowedOrigin(
  { AllowOrigins }: CorsConfiguration,
  origin: string | undefined,
  headers: Record<string, string>,
): Record<string, string> {
  if (origin === undefined) return {};
  const allowed = AllowOrigins.find((each) => each === "*" || each === origin);
  return allowed === undefined ? {} : { "access-control-allow-origin": allowed, ...headers };
}
