import { writeFile } from "node:fs/promises";
import path from "node:path";

import { apiVersion } from "../../../shared/api/contract/version.ts";
import type { JsonSchema } from "../../../shared/api/openapi/components.ts";
import { nameOf, sdkContract, type SdkContract, type SdkOperation } from "./operations.ts";

const published = { name: "SMS gateway", baseUrl: "https://sms.example.com" };

/**
 * Writes the Postman collection.
 * @param gateway the name and the address of the gateway that offers it; by default those of the release
 * @returns its path
 */
export async function writePostmanCollection(folder: string, gateway = published): Promise<string> {
  const file = path.join(folder, `postman-${apiVersion}.json`);
  await writeFile(file, `${JSON.stringify(postmanCollection(sdkContract(), gateway), null, 2)}\n`);
  return file;
}

/**
 * Returns a collection of Postman's format 2.1: a folder for each tag, with the example bodies of the document. The variables
 * `baseUrl` and `apiKey` are for all requests, `{{$guid}}` is a new id for each.
 */
function postmanCollection(
  { operations, schemas }: SdkContract,
  { name: title, baseUrl }: typeof published,
): object {
  const folders = Map.groupBy(operations, ({ tag }) => tag);
  return {
    info: {
      name: title,
      description: "Set the variables `baseUrl` and `apiKey` of the collection first.",
      version: apiVersion,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: baseUrl },
      { key: "apiKey", value: "" },
    ],
    item: [...folders].map(([name, ofTag]) => ({
      name,
      item: ofTag.map((operation) => ({ name: operation.summary, request: requestOf(operation, schemas) })),
    })),
  };
}

function requestOf({ endpoint, params, query, body }: SdkOperation, schemas: SdkContract["schemas"]): object {
  const pathParts = endpoint.path
    .slice(1)
    .split("/")
    .map((part) => part.replace(/^\{(\w+)\}$/, ":$1"));
  const optional = query.map(({ name, description, schema }) => ({
    key: name,
    value: schema.default === undefined ? "" : JSON.stringify(schema.default),
    description,
    disabled: true,
  }));
  return {
    method: endpoint.method,
    url: {
      raw: `{{baseUrl}}/${pathParts.join("/")}`,
      host: ["{{baseUrl}}"],
      path: pathParts,
      query: optional,
      variable: params.map(({ name, description }) => ({ key: name, value: "", description })),
    },
    header: endpoint.idempotent === true ? [{ key: "Idempotency-Key", value: "{{$guid}}" }] : [],
    ...(endpoint.auth === "none" ? { auth: { type: "noauth" } } : {}),
    ...(body === undefined
      ? {}
      : {
          body: {
            mode: "raw",
            raw: JSON.stringify(exampleOf(body.schema, schemas), null, 2),
            options: { raw: { language: "json" } },
          },
        }),
  };
}

function exampleOf({ $ref = "", examples }: JsonSchema, schemas: SdkContract["schemas"]): unknown {
  return (examples ?? schemas[nameOf($ref)]?.examples)?.[0] ?? {};
}
