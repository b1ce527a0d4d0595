import * as z from "zod/mini";

import { errorCatalogue, type ErrorCode } from "../contract/errors.ts";
import { ErrorFields } from "../contract/primitives.ts";
import { remedies } from "../contract/remedies.ts";
import type { Components } from "./components.ts";
import type { Example, Header, OperationResponse } from "./document.ts";
import { errorCodes, markdown } from "./introduction.ts";

/** The statuses of API Gateway itself, when a request does not reach its function or the function fails. */
export const frontDoorMessages: Readonly<Record<number, string>> = {
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** The body of all errors: one schema, so that generated clients have one type. */
const ErrorResponse = z
  .object({
    error: z.optional(ErrorFields),
    message: z.optional(z.string()).register(z.globalRegistry, {
      description: "Present instead of `error` if API Gateway itself responded, before the operation.",
    }),
  })
  .register(z.globalRegistry, { id: "ErrorResponse" });

/** A list for generated clients. No response refers to it, because they would reject the codes of a newer gateway. */
const ErrorCodes = z.enum(errorCodes).register(z.globalRegistry, {
  id: "ErrorCode",
  description: "The codes of errors. A newer gateway may have more.",
});

/** Returns a response for each of these statuses of errors. The operations refer to them, and name their own codes. */
export function errorResponses(
  statuses: ReadonlySet<string>,
  components: Components,
): Record<string, OperationResponse> {
  const schema = components.add(ErrorResponse, "output");
  components.add(ErrorCodes, "output");
  const used = errorCodes.filter((code) => statuses.has(String(errorCatalogue[code].status)));
  const byStatus = Map.groupBy(used, (code): number => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const frontDoorMessage = frontDoorMessages[status];
      const examples: Record<string, Example> = Object.fromEntries(
        codes.map((code) => [
          code,
          { summary: code, description: remedies[code], value: errorExample(code) },
        ]),
      );
      const headers = {
        "X-Request-Id": { ...requestIdHeader, required: frontDoorMessage === undefined },
        ...(codes.some((code) => retriedLater.has(code)) ? { "Retry-After": retryAfterHeader } : {}),
        ...(codes.some((code) => rateLimited.has(code)) ? rateLimitHeaders : {}),
        ...(codes.includes("UNAUTHORIZED") ? { "WWW-Authenticate": challengeHeader } : {}),
        ...(codes.includes("INSUFFICIENT_SCOPE") ? { "WWW-Authenticate": scopeChallengeHeader } : {}),
      };
      const description = codes
        .map((code) => `**${code}**: ${markdown(errorCatalogue[code].message)}`)
        .join("\n\n");
      return [
        nameOf(status),
        { description, headers, content: { "application/json": { schema, examples } } },
      ];
    }),
  );
}

/** Returns the reference to the response of a status, with the codes of the operation. */
export function errorReference(status: number, codes: readonly ErrorCode[]): OperationResponse {
  const description = codes.length > 0 ? codes.join(", ") : `${frontDoorMessages[status]}.`;
  return { $ref: `#/components/responses/${nameOf(status)}`, description };
}

const nameOf = (status: number): string => `Error${status}`;

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
