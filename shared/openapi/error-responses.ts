import * as z from "zod/mini";

import { errorCatalogue, type ErrorCode } from "../contract/errors.ts";
import { ErrorBody } from "../contract/primitives.ts";
import { remedies } from "../contract/remedies.ts";
import type { Components, JsonSchema } from "./components.ts";
import type { Example, Header, OperationResponse } from "./document.ts";
import { markdown } from "./introduction.ts";

/** The responses of API Gateway itself, when a request does not reach its function or the function fails. */
const FrontDoorError = z.object({ message: z.string() }).register(z.globalRegistry, {
  id: "FrontDoorError",
  description: "A response of API Gateway itself, before or instead of the operation.",
});

export const frontDoorMessages: Readonly<Record<number, string>> = {
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

export function errorResponse(
  status: number,
  codes: readonly ErrorCode[],
  components: Components,
): OperationResponse {
  const frontDoorMessage = frontDoorMessages[status];
  const schemas: JsonSchema[] = [];
  const examples: Record<string, Example> = {};
  if (codes.length > 0) schemas.push(components.add(errorBody(codes), "output"));
  for (const code of codes) {
    examples[code] = { summary: code, description: remedies[code], value: errorExample(code) };
  }
  if (frontDoorMessage !== undefined) {
    schemas.push(components.add(FrontDoorError, "output"));
    examples["FrontDoor"] = { summary: "The front door", value: { message: frontDoorMessage } };
  }
  const [only = {}, ...others] = schemas;
  const headers = {
    "X-Request-Id": { ...requestIdHeader, required: frontDoorMessage === undefined },
    ...(codes.some((code) => retriedLater.has(code)) ? { "Retry-After": retryAfterHeader } : {}),
    ...(codes.some((code) => rateLimited.has(code)) ? rateLimitHeaders : {}),
    ...(codes.includes("UNAUTHORIZED") ? { "WWW-Authenticate": challengeHeader } : {}),
    ...(codes.includes("INSUFFICIENT_SCOPE") ? { "WWW-Authenticate": scopeChallengeHeader } : {}),
  };
  return {
    description:
      codes.map((code) => `**${code}**: ${markdown(errorCatalogue[code].message)}`).join("\n\n") ||
      `${frontDoorMessage}.`,
    ...(codes.length === 0 ? {} : { headers }),
    content: {
      "application/json": { schema: others.length === 0 ? only : { anyOf: schemas }, examples },
    },
  };
}

/** The body of an error that has one of these codes. */
function errorBody(codes: readonly ErrorCode[]): z.ZodMiniType {
  return z.extend(ErrorBody, { error: z.extend(ErrorBody.shape.error, { code: z.enum(codes) }) });
}

function errorExample(code: ErrorCode): unknown {
  return {
    error: {
      code,
      message: errorCatalogue[code].message,
      requestId: "0f6a3c1e-5d0b-4a52-9d0f-3a1f8a3f7c11",
      docUrl: `https://sms.example.com/docs/errors/${code}`,
    },
  };
}

/** The errors that say in Retry-After when to come back, and those of them that come with the headers of a limit. */
const rateLimited: ReadonlySet<ErrorCode> = new Set([
  "RATE_LIMITED",
  "RECIPIENT_RATE_EXCEEDED",
  "SEND_RATE_EXCEEDED",
]);
const retriedLater: ReadonlySet<ErrorCode> = new Set([
  ...rateLimited,
  "DAILY_SPEND_CAP_REACHED",
  "KEY_BUDGET_REACHED",
]);

export const requestIdHeader: Header = {
  description: "Names this request in the gateway's log.",
  required: true,
  schema: { type: "string" },
};
const retryAfterHeader: Header = {
  description: "Seconds to wait before the next try. The front door does not send it.",
  schema: { type: "string", pattern: "^[1-9]\\d*$" },
};
/** Those of draft-ietf-httpapi-ratelimit-headers-10. */
export const rateLimitHeaders: Readonly<Record<string, Header>> = {
  "RateLimit-Policy": {
    description:
      "A limit that the request counted against: `q` in each `w` seconds. Absent where there is none.",
    schema: { type: "string", examples: ['"sends";q=20;w=1'] },
  },
  RateLimit: {
    description: "The rest of that limit: `r` requests, and more in `t` seconds.",
    schema: { type: "string", examples: ['"sends";r=19;t=1'] },
  },
};
const challengeHeader: Header = {
  description: "The challenge of RFC 6750; it names `invalid_token` when a credential came and was rejected.",
  schema: { type: "string" },
};
const scopeChallengeHeader: Header = {
  description: "With INSUFFICIENT_SCOPE the challenge of RFC 6750, which names the scope that is missing.",
  schema: { type: "string" },
};
