import { apiVersion } from "../../shared/contract/version.ts";
import type { JsonSchema } from "../../shared/openapi/components.ts";
import { nameOf, type SdkContract, type SdkOperation } from "./operations.ts";

/*
 * The OpenAPI document for openapi-generator. The published document is precise, which makes bad code: classes
 * for each status of each operation, and clients that reject what a newer gateway sends. This one has a name for each
 * object, no alternatives, and no rules that the gateway checks anyway.
 */

type Schemas = Readonly<Record<string, JsonSchema>>;

const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

/** Returns an OpenAPI 3.0 document of the public operations. */
export function generatorDocument({ operations, schemas }: SdkContract): object {
  const named: Record<string, object> = {
    ErrorResponse: {
      type: "object",
      required: ["error"],
      properties: { error: reference("ErrorFields") },
    },
    ErrorFields: {
      type: "object",
      required: ["code", "message", "requestId"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        requestId: { type: "string" },
        docUrl: { type: "string" },
        details: { type: "array", items: reference("ErrorDetail") },
      },
    },
    ErrorDetail: {
      type: "object",
      required: ["path", "message"],
      properties: { path: { type: "string" }, message: { type: "string" } },
    },
  };
  for (const [name, schema] of Object.entries(schemas)) named[name] = simplified(schema, schemas);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { endpoint } = operation;
    const [responseName, response] = responseOf(operation, schemas);
    named[responseName] = response;
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: describedOperation(operation, responseName, schemas),
    };
  }
  return {
    openapi: "3.0.3",
    info: { title: "SMS gateway", version: apiVersion, license: { name: "MIT" } },
    servers: [{ url: "https://sms.example.com" }],
    paths,
    components: { schemas: named, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function describedOperation(operation: SdkOperation, responseName: string, schemas: Schemas): object {
  const { name, tag, summary, endpoint, params, query, body } = operation;
  const content = (schema: object): object => ({ "application/json": { schema } });
  const key = {
    name: "Idempotency-Key",
    in: "header",
    description: "Makes it safe to repeat the request: a text of your own that is new for each new request.",
    schema: { type: "string" },
  };
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(endpoint.auth === "none" ? {} : { security: [{ bearer: [] }] }),
    parameters: [
      ...[...params, ...query].map(({ schema, ...parameter }) => ({
        ...parameter,
        schema: simplified(schema, schemas),
      })),
      ...(endpoint.idempotent === true ? [key] : []),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: body.required, content: content(simplified(body.schema, schemas)) } }),
    responses: {
      [operation.status]: { description: "Success", content: content(reference(responseName)) },
      default: { description: "Failure", content: content(reference("ErrorResponse")) },
    },
  };
}

/** Returns the envelope of a response, with its name. */
function responseOf({ name, endpoint, result }: SdkOperation, schemas: Schemas): [string, object] {
  const { $ref } = result;
  if (endpoint.paged === true && $ref !== undefined) {
    const properties = {
      data: { type: "array", items: simplified(result, schemas) },
      meta: reference("PageMeta"),
    };
    return [`${nameOf($ref)}Page`, { type: "object", required: ["data", "meta"], properties }];
  }
  const required = result.anyOf === undefined ? { required: ["data"] } : {};
  const response = { type: "object", ...required, properties: { data: simplified(result, schemas) } };
  const ownName = $ref === undefined ? `${name[0]?.toUpperCase()}${name.slice(1)}` : nameOf($ref);
  return [`${ownName}Response`, response];
}

/** Returns a schema with its structure only. A value that may be one of several objects becomes one with all their fields. */
function simplified(schema: boolean | JsonSchema | undefined, schemas: Schemas): object {
  if (typeof schema !== "object") return {};
  const { $ref, type, description, properties, required = [], items, additionalProperties } = schema;
  if ($ref !== undefined) return reference(nameOf($ref));
  const union = schema.anyOf ?? (properties === undefined ? schema.oneOf : undefined);
  if (union !== undefined)
    return { ...merged(union, schemas), ...(description === undefined ? {} : { description }) };
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const listed = values.length > 1 ? `One of: ${values.join(", ")}.` : undefined;
  const text = [description, listed].filter((each) => each !== undefined).join(" ");
  return {
    ...(type === undefined ? {} : { type }),
    ...(schema.format === "date-time" ? { format: "date-time" } : {}),
    // Otherwise some languages keep amounts with seven digits.
    ...(type === "number" ? { format: "double" } : {}),
    ...(text === "" ? {} : { description: text }),
    ...(properties === undefined ? {} : { properties: allSimplified(properties, schemas) }),
    ...(properties === undefined || required.length === 0 ? {} : { required }),
    ...(items === undefined || Array.isArray(items) ? {} : { items: simplified(items, schemas) }),
    ...(type === "object" && properties === undefined
      ? { additionalProperties: simplified(additionalProperties, schemas) }
      : {}),
  };
}

function allSimplified(properties: Readonly<Record<string, boolean | JsonSchema>>, schemas: Schemas): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, simplified(property, schemas)]),
  );
}

function merged(union: readonly (boolean | JsonSchema)[], schemas: Schemas): object {
  const variants = union.filter((each) => typeof each === "object");
  const present = variants.filter(({ type }) => type !== "null");
  const nullable = present.length < variants.length ? { nullable: true } : {};
  const [first, ...others] = present;
  if (others.length === 0) {
    // A reference has no other fields in OpenAPI 3.0.
    return first?.$ref === undefined
      ? { ...simplified(first, schemas), ...nullable }
      : { allOf: [simplified(first, schemas)], ...nullable };
  }
  const resolved = present.map((each) =>
    each.$ref === undefined ? each : (schemas[nameOf(each.$ref)] ?? each),
  );
  if (resolved.some(({ properties }) => properties === undefined)) {
    return { ...simplified(resolved[0], schemas), ...nullable };
  }
  const names = new Set(resolved.flatMap(({ properties = {} }) => Object.keys(properties)));
  const properties = [...names].map((name): [string, object] => {
    const kinds = resolved
      .map((each) => each.properties?.[name])
      .filter((each) => each !== undefined)
      .map((each) => JSON.stringify(simplified(each, schemas)));
    return [
      name,
      new Set(kinds).size === 1 ? JSON.parse(kinds[0] ?? "{}") : { type: "object", additionalProperties: {} },
    ];
  });
  const required = [...names].filter((name) =>
    resolved.every((each) => each.required?.includes(name) === true),
  );
  return { type: "object", properties: Object.fromEntries(properties), required, ...nullable };
}
