import * as z from "zod/mini";

import type { Scope } from "../contract/scopes.ts";
import { publicOperations } from "../routes.ts";
import { statusOf, type Route, type TaggedRoute } from "../routes/route.ts";
import type { JsonSchema } from "./components.ts";

/** A tool of the MCP server: an operation of the API, and how its arguments become a request. */
export interface Tool {
  /** The name of the operation. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Record<string, JsonSchema>;
    readonly required: string[];
  };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
  };
  readonly method: Route["method"];
  readonly path: string;
  readonly scope: Scope;
  /** The tag of the operation. */
  readonly group: string;
  readonly testKeys: boolean;
  /** The arguments that belong into the query. Those that the path names belong there, and all others into the body. */
  readonly queryNames: readonly string[];
  readonly hasBody: boolean;
  /** Whether the operation accepts an Idempotency-Key. */
  readonly isRepeatable: boolean;
}

/** Their results have the secret of a key or a webhook, which a model should not see. */
const secretOperations: ReadonlySet<string> = new Set([
  "createApiKey",
  "createHook",
  "createWebhook",
  "rotateApiKey",
  "rotateCallbackSecret",
  "rotateWebhookSecret",
]);

/** Returns a tool for each operation that customers may call with an API key, except those that return a secret. */
export function mcpTools(): Tool[] {
  return publicOperations().flatMap(([name, route]) => {
    const isForCustomers = route.raw === undefined && !secretOperations.has(name);
    return isForCustomers && route.scope !== undefined ? [toolOf(name, route, route.scope)] : [];
  });
}

const idempotencyKey: JsonSchema = {
  type: "string",
  description: "A call with the key of an earlier call returns the first result again, and does nothing.",
};

/** @throws Error when two parts of a request have a field of the same name */
function toolOf(name: string, route: TaggedRoute, scope: Scope): Tool {
  const isRepeatable = route.idempotent === true;
  const [params, query, body] = [route.params, route.query, route.body].map(objectSchemaOf);
  const parts = [params, query, body, isRepeatable ? { properties: { idempotencyKey } } : {}];
  const names = parts.flatMap((part) => Object.keys(part?.properties ?? {}));
  if (new Set(names).size < names.length) throw new Error(`two arguments of ${name} have the same name`);
  const isReadOnly = route.method === "GET" || scope === "read";
  // An operation that only adds items, such as messages or contacts, destroys nothing. An import may change contacts.
  const isAdditive =
    statusOf(route) !== 200 && (isRepeatable || (route.status === 201 && route.params === undefined));
  return {
    name,
    description: `${route.summary}. ${notesOf(route, scope)}`,
    inputSchema: {
      type: "object",
      properties: Object.assign({}, ...parts.map((part) => part?.properties)),
      required: parts.flatMap((part) => part?.required ?? []),
    },
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: !isReadOnly && !isAdditive,
      idempotentHint: route.method !== "POST" || isReadOnly,
    },
    method: route.method,
    path: route.path,
    scope,
    group: route.tag,
    testKeys: route.testKeys === true,
    queryNames: Object.keys(query?.properties ?? {}),
    hasBody: route.body !== undefined,
    isRepeatable,
  };
}

function notesOf({ method, path, paged }: Route, scope: Scope): string {
  const note = `This is ${method} ${path} of the API, and needs the scope \`${scope}\`.`;
  return paged === true
    ? `${note} \`meta.nextCursor\` of the result is the \`cursor\` of the next page.`
    : note;
}

/** Returns the JSON Schema of an object without references, which some clients do not resolve. */
function objectSchemaOf(schema: z.ZodMiniType | undefined): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const { $defs = {}, ...root }: JsonSchema = z.toJSONSchema(schema, { io: "input" });
  const resolved = withoutReferences(root, $defs);
  if (resolved.properties === undefined) throw new Error("the arguments of a tool must be an object");
  return forModels(resolved);
}

/** The keywords that only narrow a value. The description states them, so that models still know them. */
const statedKeyword = /^(default|format|exclusiveMinimum|m(in|ax)(imum|Length|Items))$/;

/**
 * Returns a schema with only the keywords that the APIs of Gemini, OpenAI and Anthropic accept, for strict tools too. An API
 * that does not know a keyword rejects a request with all its tools. The gateway checks the values anyway.
 */
function forModels(schema: JsonSchema | boolean): JsonSchema {
  if (typeof schema === "boolean") return {};
  const { type, anyOf, items, properties, required = [], additionalProperties: values } = schema;
  const options = typeof schema.const === "string" ? [schema.const] : schema.enum;
  const stated = Object.entries(schema)
    .filter(([name, value]) => statedKeyword.test(name) && value !== Number.MAX_SAFE_INTEGER)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  if (typeof values === "object") stated.push(`each value: ${JSON.stringify(values.type)}`);
  const description = [schema.description, stated.join(", ")].filter(Boolean).join(" ");
  if (anyOf !== undefined) {
    // Gemini accepts no other keyword beside it.
    const [first = {}, ...others] = anyOf.map(forModels);
    return { anyOf: [description === "" ? first : { ...first, description }, ...others] };
  }
  return {
    ...(type === undefined ? {} : { type }),
    ...(description === "" ? {} : { description }),
    ...(options === undefined ? {} : { enum: options }),
    ...(items === undefined || Array.isArray(items) ? {} : { items: forModels(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, forModels(each)]),
          ),
          required,
        }),
  };
}

/** Replaces references by what they name. The contract has no recursive schemas. Removes names. */
function withoutReferences(
  schema: JsonSchema,
  definitions: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === "id" && typeof value === "string") return undefined;
    if (typeof value !== "object" || value === null || !("$ref" in value)) return value;
    const { $ref, ...others } = value;
    return { ...definitions[String($ref).replace("#/$defs/", "")], ...others };
  });
  return JSON.parse(text);
}
