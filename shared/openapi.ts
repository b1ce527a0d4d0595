import * as z from "zod/mini";

import { errorCatalogue, type ErrorCode } from "./contract/errors.ts";
import { WebhookEvent } from "./contract/events.ts";
import recorded from "./contract/examples.json" with { type: "json" };
import { ErrorBody, IdempotencyKey, PageMeta } from "./contract/primitives.ts";
import { remedies } from "./contract/remedies.ts";
import { apiVersion } from "./contract/version.ts";
import { webhookHeaders } from "./contract/webhooks.ts";
import { Components, type JsonSchema } from "./openapi/components.ts";
import { introduction, markdown, tagDescriptions } from "./openapi/introduction.ts";
import { routes } from "./routes.ts";
import { errorsOf, type Route } from "./routes/route.ts";

/*
 * The OpenAPI 3.1 document, made from the route table. Nothing here depends on a single operation: everything follows
 * from the columns of its row.
 */

interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

interface Example {
  readonly summary: string;
  readonly description?: string;
  readonly value: unknown;
}

interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Parameter extends Header {
  readonly name: string;
  readonly in: "header" | "path" | "query";
  readonly required: boolean;
}

type Content = Readonly<Record<string, MediaType>>;

interface Body {
  readonly required: boolean;
  readonly content: Content;
}

interface OperationResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

/** The OpenAPI document of the whole API. */
export function openApiDocument() {
  const components = new Components();
  const paths: Record<string, Record<string, DocumentedOperation>> = {};
  for (const [operation, route] of Object.entries<Route>(routes)) {
    const described = documentedOperation(operation, route, components);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: described };
  }
  const webhooks = Object.fromEntries(
    WebhookEvent.def.options.map((event) => {
      const [name = ""] = event.shape.event.def.values;
      return [name, { post: documentedEvent(name, event, components) }];
    }),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "SMS gateway",
      version: apiVersion,
      summary: "A prepaid SMS gateway: accounts, wallet, messages and signed webhooks",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The gateway that this document comes from" }],
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "The `token` of a registration or login, valid for an hour, or the secret of an API key (`nn_…`). A key is " +
            "valid until it is disabled or expires. Each operation lists the scope that it requires. Use API keys only on " +
            "servers, never in apps or web pages.",
        },
      },
    },
  };
}

const successDescriptions = { 200: "Done", 201: "Created", 202: "Accepted" };

function documentedOperation(operation: string, route: Route, components: Components): DocumentedOperation {
  const parameters = [
    ...parametersOf(route.params, "path", components),
    ...parametersOf(route.query, "query", components),
    ...parametersOf(route.idempotent === true ? idempotencyHeaders : undefined, "header", components),
  ];
  const responses: Record<string, OperationResponse> = {
    [route.status]: {
      description: successDescriptions[route.status],
      headers: {
        "X-Request-Id": requestIdHeader,
        ...(route.idempotent === true ? { "Idempotent-Replayed": replayedHeader } : {}),
        ...(route.errors.includes("SEND_RATE_EXCEEDED") ? rateLimitHeaders : {}),
      },
      content: successContent(operation, route, components),
    },
  };
  const codes = Map.groupBy(errorsOf(route), (code): number => errorCatalogue[code].status);
  const frontDoor = Object.keys(frontDoorMessages).filter(
    (each) => each !== "413" || route.body !== undefined,
  );
  for (const status of new Set([...codes.keys(), ...frontDoor.map(Number)])) {
    responses[status] = errorResponse(status, codes.get(status) ?? [], components);
  }
  return {
    operationId: operation,
    summary: route.summary,
    ...accessOf(route),
    tags: [route.tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, components) }),
    responses,
  };
}

/** The security requirement of an operation. The scope is in the place of OpenAPI 3.1's roles. */
function accessOf(route: Route): Pick<DocumentedOperation, "description" | "security"> {
  if (route.auth === "none") return { security: [] };
  if (route.auth === "bearer") {
    return { description: `Needs the scope \`${route.scope}\`.`, security: [{ bearer: [route.scope] }] };
  }
  return { description: "For people who are logged in: an API key may not.", security: [{ bearer: [] }] };
}

function documentedEvent(name: string, event: z.ZodMiniType, components: Components) {
  return {
    operationId: name,
    summary: z.globalRegistry.get(event)?.description ?? name,
    tags: ["webhooks"],
    security: [],
    parameters: parametersOf(z.object(webhookHeaders), "header", components),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: components.add(event, "output"),
          ...recordedExample(recorded.webhooks, name),
        },
      },
    },
    responses: {
      "2XX": { description: "Accepted. Respond within 10 seconds; the body is not read." },
    },
  };
}

const idempotencyHeaders = z.object({
  "Idempotency-Key": z.optional(IdempotencyKey).register(z.globalRegistry, {
    description:
      "Makes it safe to repeat the request. Any string of your own that is new for each new request.",
  }),
});

/** The parameters that an object schema describes, one for each of its fields. */
function parametersOf(
  schema: z.ZodMiniType | undefined,
  place: Parameter["in"],
  components: Components,
): Parameter[] {
  if (schema === undefined) return [];
  // Defaults are in the output's schema only, where a field that has one counts as required.
  const { properties = {}, required = [] } = components.resolve(components.add(schema, "output"));
  return Object.entries(properties).map(([name, property]) => {
    if (typeof property === "boolean") throw new Error(`the parameter ${name} has no schema`);
    const { description = "", ...rest } = property;
    return {
      name,
      in: place,
      required: required.includes(name) && !("default" in rest),
      description,
      schema: rest,
    };
  });
}

function requestBody(body: z.ZodMiniType, components: Components): Body {
  const schema = components.add(body, "input");
  const [example] = components.resolve(schema).examples ?? [];
  return {
    required: !body.safeParse(undefined).success,
    content: { "application/json": { schema, ...(example === undefined ? {} : { example }) } },
  };
}

function successContent(operation: string, route: Route, components: Components): Content {
  const example = recordedExample(recorded.operations, operation);
  if (route.raw !== undefined) {
    const schema = components.add(route.data, "output");
    return Object.fromEntries(route.raw.map((contentType) => [contentType, { schema, ...example }]));
  }
  const body =
    route.paged === true
      ? z.object({ data: z.array(route.data), meta: PageMeta })
      : z.object({ data: route.data });
  return { "application/json": { schema: components.add(body, "output"), ...example } };
}

function recordedExample(examples: Readonly<Record<string, unknown>>, name: string): { example?: unknown } {
  return name in examples ? { example: examples[name] } : {};
}

/** The responses of API Gateway itself, when a request does not reach its function or the function fails. */
const FrontDoorError = z.object({ message: z.string() }).register(z.globalRegistry, {
  id: "FrontDoorError",
  description: "A response of API Gateway itself, before or instead of the operation.",
});

const frontDoorMessages: Readonly<Record<number, string>> = {
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

function errorResponse(
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
    ...(codes.some((code) => comeBackLater.has(code)) ? { "Retry-After": retryAfterHeader } : {}),
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
    error: { code, message: errorCatalogue[code].message, requestId: "0f6a3c1e-5d0b-4a52-9d0f-3a1f8a3f7c11" },
  };
}

/** The errors that say in Retry-After when to come back, and those of them that come with the headers of a limit. */
const rateLimited: ReadonlySet<ErrorCode> = new Set([
  "RATE_LIMITED",
  "RECIPIENT_RATE_EXCEEDED",
  "SEND_RATE_EXCEEDED",
]);
const comeBackLater: ReadonlySet<ErrorCode> = new Set([...rateLimited, "DAILY_SPEND_CAP_REACHED"]);

const requestIdHeader: Header = {
  description: "Names this request in the gateway's log.",
  required: true,
  schema: { type: "string" },
};
const replayedHeader: Header = {
  description: "Present when this is the response to an earlier request with the same Idempotency-Key.",
  schema: { type: "string", const: "true" },
};
const retryAfterHeader: Header = {
  description: "Seconds to wait before the next try. The front door does not send it.",
  schema: { type: "string", pattern: "^[1-9]\\d*$" },
};
/** Those of draft-ietf-httpapi-ratelimit-headers-10. */
const rateLimitHeaders: Readonly<Record<string, Header>> = {
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
