import { Ajv2020 } from "ajv/dist/2020.js";
import * as z from "zod/mini";

import { errorCatalogue } from "../../shared/api/contract/errors.ts";
import { frontDoorMessages } from "../../shared/api/openapi/error-responses.ts";
import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { methodsOf, routes } from "../../shared/api/routes.ts";
import { errorsOf, pathPattern, type Route, type TaggedRoute } from "../../shared/api/routes/route.ts";

/*
 * Checks the gateway's responses against the document that it publishes, more strictly than a customer should. A field that
 * the document does not name is an error here.
 */

export interface ObservedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Modules are loaded again for each file; the document and its compiled schemas stay. */
const worker: { [key: symbol]: ReturnType<typeof contract> | undefined } & object = globalThis;

const { document, ajv } = (worker[Symbol.for("sms-gateway.contract")] ??= contract());

function contract() {
  const made = openApiDocument({ internal: true });
  const validator = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  validator.addSchema(closed(made), "openapi");
  return { document: made, ajv: validator };
}

const fallbackCodes: Readonly<Record<number, string>> = { 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED" };

/** The addresses of gateways of another release, which are not checked. */
export const uncheckedOrigins = new Set<string>();

/**
 * Checks a response against the schema of its operation and status.
 * @throws Error when the document does not describe it
 */
export function checkAgainstContract(request: { method: string; url: string }, answer: ObservedAnswer): void {
  const { pathname, origin } = new URL(request.url);
  if (uncheckedOrigins.has(origin)) return;
  const rows = Object.values<TaggedRoute>(routes);
  const ofPath = rows.filter(({ path }) => path === pathname);
  const route = (ofPath.length > 0 ? ofPath : rows.filter((row) => pathPattern(row).test(pathname))).find(
    ({ method }) => method === request.method,
  );
  // The statuses and bodies of MCP are those of its own protocol.
  if (route?.tag === "mcp" && Object(answer.body).jsonrpc === "2.0") return;
  const problem = route === undefined ? problemOfFallback(pathname, answer) : problemOf(route, answer);
  if (problem === undefined) return;
  throw new Error(
    `${request.method} ${pathname} returned ${answer.status} ${JSON.stringify(answer.body)}, ` +
      `which the contract does not describe: ${problem}`,
  );
}

/** Without an operation, the fallback responds: 405 if the path has other methods, otherwise 404. */
function problemOfFallback(pathname: string, { status, headers, body }: ObservedAnswer): string | undefined {
  const methods = methodsOf(pathname);
  if (status !== (methods.length === 0 ? 404 : 405)) return "no such route";
  if ((headers.get("allow") ?? "") !== methods.join(", ")) return "Allow is not what the path takes";
  const { error } = FallbackBody.parse(body);
  return error.code === fallbackCodes[status] ? undefined : "another code";
}

const FallbackBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    requestId: z.string(),
    docUrl: z.optional(z.string()),
  }),
});

function problemOf(route: Route, { status, headers, body }: ObservedAnswer): string | undefined {
  const method = route.method.toLowerCase();
  // An unknown address of the documentation gets a page.
  if (route.internal === true && status === 404 && route.raw?.includes("text/html") === true)
    return undefined;
  const documented = document.paths[route.path]?.[method]?.responses[status];
  if (documented === undefined) return "no such status";
  const { content = {}, headers: described = {} } =
    documented.$ref === undefined ? documented : (document.components.responses[`Error${status}`] ?? {});
  const contentType = headers.get("content-type")?.split(";")[0] ?? "";
  if (!(contentType in content)) return `no such content type as ${contentType}`;
  for (const [name, { required = false }] of Object.entries(described)) {
    if (required && !headers.has(name)) return `no header ${name}`;
  }
  const shared = documented.$ref?.split("/").slice(1);
  if (shared !== undefined) {
    const code: unknown = Object(Object(body).error).code;
    const isFrontDoor = code === undefined && status in frontDoorMessages;
    const isDocumented = errorsOf(route).some(
      (each) => each === code && errorCatalogue[each].status === status,
    );
    if (!isFrontDoor && !isDocumented) return `no such code as ${String(code)}`;
  }
  const response = shared ?? ["paths", route.path, method, "responses", String(status)];
  return schemaProblem([...response, "content", contentType, "schema"], body);
}

/** Returns the problem of a value by the schema at a place in the document. */
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
