import { expect, it } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { errorHeaders, rateLimitHeaders } from "../../shared/platform/http/response-headers.ts";
import { limitReached } from "../../shared/platform/limits/rate-limit.ts";

it("reports a limit that was reached, and when to try again", () => {
  const error = limitReached({ name: "sends", max: 20, windowMs: 60_000, code: "SEND_RATE_EXCEEDED" }, 1_001);

  expect(error.code).toBe("SEND_RATE_EXCEEDED");
  expect(errorHeaders(error, "Bearer key")).toEqual({
    "Retry-After": "2",
    "RateLimit-Policy": '"sends";q=20;w=60',
    RateLimit: '"sends";r=0;t=2',
  });
});

it("never asks to try again in less than a second", () => {
  const error = limitReached({ name: "sends", max: 20, windowMs: 1_000 }, -5);

  expect(errorHeaders(error, undefined)).toMatchObject({ "Retry-After": "1" });
});

it("reports what is left of a limit", () => {
  const status = { name: "sends", max: 20, windowMs: 1_000, remaining: 7, resetSeconds: 1 };

  expect(rateLimitHeaders(status)).toEqual({
    "RateLimit-Policy": '"sends";q=20;w=1',
    RateLimit: '"sends";r=7;t=1',
  });
});

it.each([
  ["UNAUTHORIZED", undefined, {}, "Bearer"],
  ["UNAUTHORIZED", "Basic abc", {}, "Bearer"],
  ["UNAUTHORIZED", "bearer abc", {}, 'Bearer error="invalid_token"'],
  ["INSUFFICIENT_SCOPE", "Bearer abc", {}, 'Bearer error="insufficient_scope"'],
  [
    "INSUFFICIENT_SCOPE",
    "Bearer abc",
    { requiredScope: "keys" },
    'Bearer error="insufficient_scope", scope="keys"',
  ],
] as const)("challenges %s with Authorization %j", (code, authorization, facts, challenge) => {
  expect(errorHeaders(new ApiError(code, facts), authorization)).toEqual({ "WWW-Authenticate": challenge });
});

it("names the methods that are allowed, and adds nothing to other errors", () => {
  const error = new ApiError("METHOD_NOT_ALLOWED", { allowedMethods: ["GET", "PUT"] });

  expect(errorHeaders(error, undefined)).toEqual({ Allow: "GET, PUT" });
  expect(errorHeaders(new ApiError("NOT_FOUND"), undefined)).toEqual({});
});
