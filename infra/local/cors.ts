import type { IncomingHttpHeaders } from "node:http";

import {
  crossOriginRequestHeaders,
  crossOriginResponseHeaders,
} from "@sms-gateway/stack/constructs/cross-origin.ts";

import type { CorsConfiguration, StackDefinition } from "./template.ts";

/*
 * CORS as an HTTP API implements it: it responds to preflight requests itself, and adds headers to the responses of
 * functions. The browser enforces the rules.
 */

const maxAgeSeconds = 86_400;

/** Returns the stack's rules, or those of a stack without origins, where pages of this machine may call the API too. */
export function corsOf({ cors, routes }: Pick<StackDefinition, "cors" | "routes">): CorsConfiguration {
  if (cors !== undefined) return cors;
  const methods = new Set(routes.map(({ routeKey }) => routeKey.split(" ")[0] ?? ""));
  methods.delete("$default");
  return {
    AllowOrigins: [],
    AllowMethods: [...methods],
    AllowHeaders: crossOriginRequestHeaders,
    ExposeHeaders: crossOriginResponseHeaders,
    MaxAge: maxAgeSeconds,
  };
}

/** Whether a browser checks with this request if it may send another one. */
export function isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

/** Returns the headers of the response to a preflight request; none for an origin that is not allowed. */
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

/** Returns the headers to add to a function's response; none without an allowed origin. */
export function responseHeaders(cors: CorsConfiguration, origin: string | undefined): Record<string, string> {
  return withAllowedOrigin(cors, origin, { "access-control-expose-headers": cors.ExposeHeaders.join(",") });
}

function withAllowedOrigin(
  { AllowOrigins }: CorsConfiguration,
  origin: string | undefined,
  headers: Record<string, string>,
): Record<string, string> {
  if (origin === undefined) return {};
  // The API has rejected all origins but the stage's and those of this machine.
  const allowed = AllowOrigins.find((each) => each === "*" || each === origin) ?? origin;
  return { "access-control-allow-origin": allowed, ...headers };
}
