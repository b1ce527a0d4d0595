import type { JsonSchema } from "../../../shared/api/openapi/components.ts";
import type { Parameter } from "../../../shared/api/openapi/document.ts";
import { capitalized, nameOf, type SdkContract, type SdkOperation } from "./operations.ts";

/**
 * Prints the type declarations of the npm package: an interface for each schema, and a method for each operation. The
 * declarations of its handwritten files are next to it.
 */
export function typeScriptDeclarations({ operations, schemas }: SdkContract): string {
  return [
    `import type { Page } from "./client/call.js";`,
    `import type { CallOptions, ClientSettings } from "./client/retries.js";`,
    `import type { WebhookCall } from "./client/verify-webhook.js";`,
    "",
    `export { everyRow, type Page } from "./client/call.js";`,
    `export { ConnectionError, RequestError, SmsGatewayError } from "./client/errors.js";`,
    `export type { CallOptions, ClientSettings } from "./client/retries.js";`,
    `export { signWebhook, WebhookVerificationError, type WebhookCall } from "./client/verify-webhook.js";`,
    "",
    "/** Creates a client with one method for each operation. */",
    "export declare function createClient(settings: ClientSettings): Client;",
    "",
    "/**\n * Verifies that a webhook call comes from the gateway, and parses its body.",
    " * @throws WebhookVerificationError\n */",
    "export declare function verifyWebhook(call: WebhookCall): Promise<WebhookPayload>;",
    "",
    "/** The first page of a list as a promise, and all rows from there on with `for await`. */",
    "export type PageRequest<Row> = Promise<Page<Row>> & AsyncIterable<Row>;",
    "",
    "export interface Client {",
    ...operations.map(methodOf),
    "}",
    "",
    ...operations.filter(({ query }) => query.length > 0).map(queryOf),
    ...Object.entries(schemas).map(([name, schema]) => declarationOf(name, schema)),
  ].join("\n");
}

function methodOf(operation: SdkOperation): string {
  const { name, endpoint, summary, params, query, body, result } = operation;
  const isRequired = params.length > 0 || body?.required === true;
  const options = [
    ...(params.length > 0 ? [`params: ${objectOf(params)}`] : []),
    ...(query.length > 0 ? [`query?: ${queryName(operation)}`] : []),
    ...(body === undefined ? [] : [`body${body.required ? "" : "?"}: ${typeOf(body.schema)}`]),
    ...(endpoint.idempotent === true ? ["idempotencyKey?: string"] : []),
  ];
  const extra = options.length > 0 ? ` & { ${options.join("; ")} }` : "";
  const row = typeOf(result);
  const returned = endpoint.paged === true ? `PageRequest<${row}>` : `Promise<${row}>`;
  return [
    `  /**\n   * ${summary}.\n   *\n   * \`${endpoint.method} ${endpoint.path}\`\n   */`,
    `  ${name}(options${isRequired ? "" : "?"}: CallOptions${extra}): ${returned};`,
  ].join("\n");
}

function queryName({ name }: SdkOperation): string {
  return `${capitalized(name)}Query`;
}

function queryOf(operation: SdkOperation): string {
  const fields = operation.query.map(
    ({ name, description, required, schema }) =>
      `${comment(description, "  ")}  ${name}${required ? "" : "?"}: ${typeOf(schema)};\n`,
  );
  return `export interface ${queryName(operation)} {\n${fields.join("")}}\n`;
}

function objectOf(parameters: readonly Parameter[]): string {
  return `{ ${parameters.map(({ name, schema }) => `${name}: ${typeOf(schema)}`).join("; ")} }`;
}

function declarationOf(name: string, schema: JsonSchema): string {
  const declaration =
    schema.type === "object" && schema.properties !== undefined
      ? `interface ${name} ${typeOf(schema)}`
      : `type ${name} = ${typeOf(schema)};`;
  return `${comment(schema.description, "")}export ${declaration}\n`;
}

/** Returns the expression of a schema's type. */
function typeOf(schema: boolean | JsonSchema | undefined, indent = ""): string {
  if (typeof schema !== "object") return "unknown";
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties).map(([name, property]) => {
      const { description } = typeof property === "object" ? property : {};
      const optional = schema.required?.includes(name) === true ? "" : "?";
      return `${comment(description, `${indent}  `)}${indent}  ${name}${optional}: ${typeOf(property, `${indent}  `)};\n`;
    });
    return `{\n${fields.join("")}${indent}}`;
  }
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union.map((each) => typeOf(each, indent)).join(" | ");
  // Only texts of requests have a pattern beside their format.
  if (schema.format === "date-time" && schema.pattern !== undefined) return "string | Date";
  if (schema.type === "array") {
    const { items } = schema;
    return `Array<${typeOf(Array.isArray(items) ? undefined : items, indent)}>`;
  }
  if (schema.type === "object") return `Record<string, ${typeOf(schema.additionalProperties, indent)}>`;
  return primitives[String(schema.type)] ?? "unknown";
}

const primitives: Readonly<Record<string, string>> = {
  boolean: "boolean",
  integer: "number",
  null: "null",
  number: "number",
  string: "string",
};

function comment(text: string | undefined, indent: string): string {
  return text === undefined || text === "" ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
}
