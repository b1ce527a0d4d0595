import type { Endpoint } from "../../../shared/api/client/call.ts";
import type { JsonSchema } from "../../../shared/api/openapi/components.ts";
import { operationsOf, type Parameter } from "../../../shared/api/openapi/document.ts";
import { openApiDocument } from "../../../shared/api/openapi/openapi.ts";
import { publicOperations, type Operation } from "../../../shared/api/routes.ts";
import { statusOf } from "../../../shared/api/routes/route.ts";

/*
 * The public operations as the SDKs have them: the route table with the schemas of the OpenAPI document.
 */

/** One method of the clients. */
export interface SdkOperation {
  readonly name: Operation;
  readonly endpoint: Endpoint;
  readonly tag: string;
  /** The status of success. */
  readonly status: number;
  readonly summary: string;
  readonly params: readonly Parameter[];
  readonly query: readonly Parameter[];
  readonly body?: { readonly required: boolean; readonly schema: JsonSchema };
  /** The schema of `data`; of a list, of one row. */
  readonly result: JsonSchema;
}

export interface SdkContract {
  readonly operations: readonly SdkOperation[];
  /** The named schemas. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** Returns what an SDK is generated from. */
export function sdkContract(): SdkContract {
  const document = openApiDocument();
  const documented = new Map(operationsOf(document).map((each) => [each.operationId, each]));
  const sdkOperations = publicOperations().flatMap(([name, route]): SdkOperation[] => {
    const operation = documented.get(name);
    if (operation === undefined) throw new Error(`${name} is not documented`);
    const { parameters = [], requestBody, responses, summary } = operation;
    const body = requestBody?.content["application/json"]?.schema;
    const data = responses[statusOf(route)]?.content?.["application/json"]?.schema.properties?.["data"];
    if (typeof data !== "object") throw new Error(`the response of ${name} is not documented`);
    const { method, path, auth, paged, idempotent } = route;
    const described = {
      name,
      endpoint: {
        method,
        path,
        ...(auth === undefined ? {} : { auth }),
        ...(paged === undefined ? {} : { paged }),
        ...(idempotent === undefined ? {} : { idempotent }),
      },
      tag: route.tag,
      status: statusOf(route),
      summary,
      params: parameters.filter((parameter) => parameter.in === "path"),
      query: parameters.filter((parameter) => parameter.in === "query"),
      ...(body === undefined ? {} : { body: { required: requestBody?.required === true, schema: body } }),
      result: paged === true ? rowOf(data) : data,
    };
    return [described];
  });
  return { operations: sdkOperations, schemas: document.components.schemas };
}

function rowOf({ items }: JsonSchema): JsonSchema {
  if (typeof items !== "object" || Array.isArray(items)) throw new Error("a list has no schema of its rows");
  return items;
}

/** Returns the name at the end of a reference. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

export function capitalized(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}
