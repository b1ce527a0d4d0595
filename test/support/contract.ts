import { Ajv2020 } from "ajv/dist/2020.js";
import * as z from "zod";

import { openApiDocument, type DocumentedOperation } from "../../shared/openapi.ts";

/*
 * Holds what the gateway answers against the document that it publishes, more strictly than a customer should:
 * a field that the document does not name is a fault here.
 */

export interface ObservedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const document = openApiDocument();
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(closed(document), "openapi");

const operations = Object.entries(document.paths)
  // A path without a parameter is the better match, as for API Gateway.
  .toSorted(([one], [other]) => Number(one.includes("{")) - Number(other.includes("{")))
  .map(([path, methods]) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    methods,
  }));

const NotFound = z.strictObject({
  error: z.strictObject({ code: z.literal("NOT_FOUND"), message: z.string(), requestId: z.string() }),
});

/**
 * Checks an answer against the schema of its operation and status.
 * @throws Error when the document does not describe it
 */
export function checkAgainstContract(request: { method: string; url: string }, answer: ObservedAnswer): void {
  const { pathname } = new URL(request.url);
  const method = request.method.toLowerCase();
  const found = operations.find(({ pattern, methods }) => pattern.test(pathname) && method in methods);
  const problem =
    found === undefined
      ? problemOfFallback(answer)
      : problemOf(found.path, method, found.methods[method], answer);
  if (problem === undefined) return;
  throw new Error(
    `${request.method} ${pathname} answered ${answer.status} ${JSON.stringify(answer.body)}, ` +
      `which the contract does not describe: ${problem}`,
  );
}

function problemOfFallback({ status, body }: ObservedAnswer): string | undefined {
  return status === 404 && NotFound.safeParse(body).success ? undefined : "no such route";
}

function problemOf(
  path: string,
  method: string,
  operation: DocumentedOperation | undefined,
  { status, headers, body }: ObservedAnswer,
): string | undefined {
  const documented = operation?.responses[status];
  if (documented === undefined) return "no such status";
  const contentType = headers.get("content-type")?.split(";")[0] ?? "";
  if (!(contentType in (documented.content ?? {}))) return `no such content type as ${contentType}`;
  for (const [name, { required = false }] of Object.entries(documented.headers ?? {})) {
    if (required && !headers.has(name)) return `no header ${name}`;
  }
  const pointer = ["paths", path, method, "responses", String(status), "content", contentType, "schema"];
  return schemaProblem(pointer, body);
}

/** What is wrong with a value, by the schema at a place in the document. */
export function schemaProblem(place: readonly string[], value: unknown): string | undefined {
  const pointer = place.map(
    (part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`,
  );
  const validate = ajv.getSchema(`openapi#${pointer.join("")}`);
  if (validate === undefined) return `no schema at ${place.join(" ")}`;
  return validate(value) === true ? undefined : ajv.errorsText(validate.errors, { dataVar: "body" });
}

/** The document with all its objects closed to fields that they do not name. */
function closed(open: object): object {
  const copy: object = JSON.parse(JSON.stringify(open), (_key, value: unknown) =>
    typeof value === "object" && value !== null && "properties" in value && !("additionalProperties" in value)
      ? { ...value, additionalProperties: false }
      : value,
  );
  return copy;
}
