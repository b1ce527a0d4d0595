import * as z from "zod/mini";

import { errorCatalogue } from "../contract/errors.ts";
import { WebhookEvent } from "../contract/events.ts";
import { IdempotencyKey, PageMeta } from "../contract/primitives.ts";
import { apiVersion } from "../contract/version.ts";
import { webhookHeaders } from "../contract/webhooks.ts";
import { operations, publicOperations, type Operation } from "../routes.ts";
import { errorsOf, keepsResponse, statusOf, type Route, type TaggedRoute } from "../routes/route.ts";
import { Components } from "./components.ts";
import type { Body, Content, DocumentedOperation, Header, OperationResponse, Parameter } from "./document.ts";
import {
  errorReference,
  errorResponses,
  frontDoorMessages,
  rateLimitHeaders,
  requestIdHeader,
} from "./error-responses.ts";
import { eventExample, responseExample } from "./examples.ts";
import { introduction, tagDescriptions } from "./introduction.ts";

/*
 * The OpenAPI 3.1 document, made from the route table. Nothing here depends on a single operation: everything follows
 * from the columns of its row.
 */

/**
 * Returns the OpenAPI document of all operations for customers.
 * @param options `internal` adds the other operations, to check their responses; `title` is the name of the gateway
 */
export function openApiDocument({
  internal = false,
  title = "SMS gateway",
}: { readonly internal?: boolean; readonly title?: string } = {}) {
  const components = new Components();
  const paths: Record<string, Record<string, DocumentedOperation>> = {};
  for (const [operation, route] of internal ? operations() : publicOperations()) {
    const described = documentedOperation(operation, route, components);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: described };
  }
  const documented = Object.values(paths).flatMap((methods) => Object.values(methods));
  const tags = new Set(documented.flatMap((each) => each.tags));
  const webhooks = Object.fromEntries(
    WebhookEvent.def.options.map((event) => {
      const [name = ""] = event.shape.event.def.values;
      return [name, { post: documentedEvent(name, event, components) }];
    }),
  );
  const statuses = new Set(documented.flatMap((each) => Object.keys(each.responses)));
  const responses = errorResponses(statuses, components);
  return {
    openapi: "3.1.0",
    info: {
      title,
      version: apiVersion,
      summary: "Prepaid SMS: accounts, wallet, messages and signed webhooks",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The gateway that this document comes from" }],
    tags: Object.entries(tagDescriptions).flatMap(([name, description]) =>
      tags.has(name) ? [{ name, description }] : [],
    ),
    paths,
    // Not `webhooks`: openapi-generator makes broken methods of it, in the place of the operations on webhooks.
    "x-webhooks": webhooks,
    components: {
      schemas: components.schemas,
      responses,
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

function documentedOperation(
  operation: Operation,
  route: TaggedRoute,
  components: Components,
): DocumentedOperation {
  const parameters = [
    ...parametersOf(route.params, "path", components),
    ...parametersOf(route.query, "query", components),
    ...parametersOf(route.idempotent === true ? idempotencyHeaders : undefined, "header", components),
  ];
  const responses: Record<string, OperationResponse> = {
    [statusOf(route)]: {
      description: successDescriptions[statusOf(route)],
      headers: {
        "X-Request-Id": requestIdHeader,
        ...(keepsResponse(route) ? { "Idempotent-Replayed": replayedHeader } : {}),
        ...(route.errors?.includes("SEND_RATE_EXCEEDED") ? rateLimitHeaders : {}),
      },
      content: successContent(operation, route, components),
    },
  };
  const codes = Map.groupBy(errorsOf(route), (code): number => errorCatalogue[code].status);
  const frontDoor = Object.keys(frontDoorMessages).filter(
    (each) => each !== "413" || route.body !== undefined,
  );
  for (const status of new Set([...codes.keys(), ...frontDoor.map(Number)])) {
    responses[status] = errorReference(status, codes.get(status) ?? []);
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

/** The description and the security requirement of an operation. The scope is in the place of OpenAPI 3.1's roles. */
function accessOf({
  auth,
  scope,
  description = "",
}: Route): Pick<DocumentedOperation, "description" | "security"> {
  if (auth === "none") return { description, security: [] };
  const rule =
    scope === undefined
      ? "For people who are logged in: an API key may not."
      : `Needs the scope \`${scope}\`.`;
  return {
    description: `${description} ${rule}`.trim(),
    security: [{ bearer: scope === undefined ? [] : [scope] }],
  };
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
          ...eventExample(name),
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
  const example = responseExample(operation, route);
  if (route.raw !== undefined) {
    const schema = components.add(route.data, "output");
    return Object.fromEntries(route.raw.map((contentType) => [contentType, { schema, ...example }]));
  }
  const body =
    route.paged === true
      ? z.object({ data: z.array(route.data), meta: PageMeta })
      : z.object({ data: route.data });
  const alternatives = (route.alternatives ?? []).map((contentType) => [
    contentType,
    { schema: { type: "string", contentMediaType: contentType } },
  ]);
  return {
    "application/json": { schema: components.add(body, "output"), ...example },
    ...Object.fromEntries(alternatives),
  };
}

const replayedHeader: Header = {
  description: "Present when this is the response to an earlier request with the same Idempotency-Key.",
  schema: { type: "string", const: "true" },
};
