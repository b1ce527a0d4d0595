import type { APIGatewayProxyEventV2 } from "aws-lambda";
import type * as z from "zod/mini";

import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { namesOfNotNull, validate } from "../../api/contract/validation.ts";
import type { ServedRoute } from "../../api/routes/route.ts";
import { withAllDigits } from "../all-digits.ts";
import type { EndpointMiddleware } from "./event.ts";

/** The largest body of a route that does not declare its own limit. */
const defaultMaxBodyKilobytes = 64;

/**
 * Parses the path, query and body of a request with the route's schemas.
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export function requestInput(route: ServedRoute): EndpointMiddleware {
  const revive = reviverOf(route);
  return {
    before: ({ event }) => {
      if (route.rejectsIdempotencyKey === true && event.headers["idempotency-key"] !== undefined) {
        throw invalidField("Idempotency-Key", "must be absent: this response is not kept");
      }
      const { pathParameters = {}, queryStringParameters = {} } = event;
      event.input = {
        params: route.params === undefined ? undefined : parseParams(route.params, pathParameters),
        query: route.query === undefined ? undefined : parse(route.query, queryStringParameters, "parameter"),
        body: route.body === undefined ? undefined : parse(route.body, readBody(route, event, revive)),
      };
    },
  };
}

/** Rejects an id that cannot exist like one that does not exist. */
function parseParams(schema: z.ZodMiniType, params: unknown): unknown {
  const result = schema.safeParse(params);
  if (!result.success) throw new ApiError("NOT_FOUND");
  return result.data;
}

function parse(schema: z.ZodMiniType, value: unknown, noun?: "parameter"): unknown {
  const result = validate(schema, value, noun);
  if (result.success) return result.data;
  if (value === undefined) throw invalidBody("A JSON body is required.");
  throw new ApiError("VALIDATION_ERROR", { details: result.details });
}

/** Returns the JSON object in the body, or the list if the route accepts one; undefined if there is no body. */
function readBody(route: ServedRoute, event: APIGatewayProxyEventV2, revive: Reviver): unknown {
  if (event.body === undefined || event.body === "") return undefined;
  const bytes = Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
  const maxKilobytes = route.maxBodyKilobytes ?? defaultMaxBodyKilobytes;
  if (bytes.byteLength > maxKilobytes * 1024) {
    throw new ApiError("PAYLOAD_TOO_LARGE", {
      message: `The request body is larger than ${maxKilobytes} KB.`,
    });
  }
  // A compressed body would be read as another text, or not at all (RFC 9110, 15.5.16).
  const isPlain = /^(identity)?$/i.test(event.headers["content-encoding"] ?? "");
  if (!isPlain) throw new ApiError("UNSUPPORTED_MEDIA_TYPE");
  const contentType = event.headers["content-type"] ?? "";
  if (route.form === true && /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType)) {
    return Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
  }
  if (!/^application\/json\s*(;|$)/i.test(contentType)) throw new ApiError("UNSUPPORTED_MEDIA_TYPE");
  const body = parseJson(bytes, revive);
  if (typeof body !== "object" || body === null || (Array.isArray(body) && route.list !== true)) {
    throw invalidBody("The body must be a JSON object.");
  }
  return body;
}

function parseJson(bytes: Uint8Array, revive: Reviver): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // Decoders replace bytes that are not UTF-8 by it. API Gateway may have done so before.
    if (text.includes("\ufffd")) throw new Error("U+FFFD");
    return JSON.parse(text, revive);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalidBody("The body must be JSON in UTF-8, without U+FFFD.");
  }
}

type Reviver = (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * Returns the function that checks and changes the values of a body while it is parsed. It rejects half a surrogate pair,
 * which cannot be stored or sent, because every UTF-8 encoder replaces it. In a POST it leaves out the fields that are
 * `null`: many clients write those without a value so. In a PATCH or PUT, `null` clears a field. Carriers have rules of
 * their own, and ids that a number would round.
 */
function reviverOf({ method, form, body }: ServedRoute): Reviver {
  const leavesOutNulls = method === "POST" && form !== true;
  const notNull = new Set(body === undefined ? [] : namesOfNotNull(body));
  return function revive(name, value, context) {
    if (typeof value === "string" && !value.isWellFormed()) {
      throw invalidBody("The body holds a lone surrogate.");
    }
    // Zod drops it before the checks of a record, without an error. The name of the body itself is empty.
    if (name !== "" && Object.hasOwn(Object(value), "__proto__")) {
      throw invalidBody("A field must have no name __proto__.");
    }
    const isLeftOut = value === null && leavesOutNulls && !notNull.has(name) && !Array.isArray(this);
    if (isLeftOut) return undefined;
    return form === true ? withAllDigits(name, value, context) : value;
  };
}

function invalidBody(message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", { message, details: [{ path: "", message }] });
}
