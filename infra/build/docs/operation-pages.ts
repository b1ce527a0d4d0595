import { errorCatalogue } from "../../../shared/api/contract/errors.ts";
import {
  operationsOf,
  type DocumentedOperation,
  type Parameter,
  type PlacedOperation,
} from "../../../shared/api/openapi/document.ts";
import type { openApiDocument } from "../../../shared/api/openapi/openapi.ts";
import { samplesOf } from "../../../shared/api/openapi/samples.ts";
import { routes } from "../../../shared/api/routes.ts";
import { errorsOf, type Route } from "../../../shared/api/routes/route.ts";
import { escapeHtml } from "../../../shared/platform/html.ts";
import { fieldItem, fieldList, markdownText } from "./fields.ts";
import { jsonBlock, markdownTable, plainText, type Page } from "./page.ts";

export type ApiDocument = ReturnType<typeof openApiDocument>;

/** Returns a page for each operation of the document, in its order. */
export function operationPages(document: ApiDocument): Page[] {
  return operationsOf(document).map((operation) => ({
    path: `operations/${operation.operationId}`,
    section: operation.tags[0] ?? "",
    title: plainText(titleOf(operation)),
    description: `${operation.method} ${operation.path}: ${operation.summary}.`,
    markdown: operationMarkdown(operation, document),
    samples: samplesOf(operation),
    aside: liveConsole(operation),
    method: operation.method,
  }));
}

/** Returns the summary of an operation without its explanation. */
function titleOf({ summary }: DocumentedOperation): string {
  return summary.replace(/[:;] .*/, "");
}

function operationMarkdown(operation: PlacedOperation, document: ApiDocument): string {
  const { schemas } = document.components;
  const route: Route = routes[operation.operationId];
  const { method, path, parameters = [], requestBody, responses } = operation;
  const [status = "200", success] = Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  const json = success?.content?.["application/json"];
  const parts = [
    `# ${titleOf(operation)}`,
    `**${method}** \`${path}\``,
    titleOf(operation) === operation.summary ? "" : `${operation.summary}.`,
    route.description ?? "",
    credentialText(operation),
    ...parameterParts("Path parameters", "path", parameters, schemas),
    ...parameterParts("Query parameters", "query", parameters, schemas),
    ...parameterParts("Headers", "header", parameters, schemas),
  ];
  if (requestBody !== undefined) {
    const { schema = {} } = requestBody.content["application/json"] ?? {};
    const note = requestBody.required ? "" : "The body is optional.\n\n";
    parts.push("## Body", `${note}${fieldList(schema, schemas)}`);
  }
  parts.push("## Response", `Status \`${status}\` with this JSON:`);
  if (json !== undefined) parts.push(fieldList(json.schema, schemas));
  if (json?.example !== undefined) parts.push("### Example", jsonBlock(json.example));
  const rows = errorsOf(route).map((code) => [
    String(errorCatalogue[code].status),
    `[\`${code}\`](/docs/errors/${code})`,
    markdownText(errorCatalogue[code].message),
  ]);
  parts.push("## Errors", markdownTable(["Status", "Code", "What it means"], rows));
  return parts.filter((part) => part !== "").join("\n\n");
}

function credentialText({ security }: DocumentedOperation): string {
  const [requirement] = security;
  if (requirement === undefined) return "Requires no credential.";
  const [scope] = requirement["bearer"] ?? [];
  return scope === undefined
    ? "Requires the token of a session."
    : `Requires a credential with the [scope](/docs/guides/going-live#credentials) \`${scope}\`.`;
}

function parameterParts(
  title: string,
  place: Parameter["in"],
  parameters: readonly Parameter[],
  schemas: ApiDocument["components"]["schemas"],
): string[] {
  const items = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, description, required }) =>
      fieldItem(name, { ...schema, description }, required, schemas),
    );
  return items.length === 0 ? [] : [`## ${title}`, items.join("\n")];
}

/** Returns the form that sends the operation to this gateway. A script shows it. */
function liveConsole({ method, path, parameters = [], requestBody, security }: PlacedOperation): string {
  const example = requestBody?.content["application/json"]?.example;
  const needsSession = security.length > 0 && (security[0]?.["bearer"] ?? []).length === 0;
  const key =
    security.length === 0
      ? ""
      : `<label>${needsSession ? "Session token" : "API key or session token"}<input type="password" name="key" autocomplete="off" spellcheck="false"></label>\n<p class="hint">It stays in this tab.</p>\n`;
  const inputs = parameters.map(
    ({ name, in: place, required, schema }) =>
      `<label>${escapeHtml(name)}${required ? "" : " (optional)"}<input name="${place}:${escapeHtml(name)}" autocomplete="off" spellcheck="false"${
        typeof schema.default === "number" ? ` placeholder="${schema.default}"` : ""
      }${required ? " required" : ""}></label>\n`,
  );
  const body =
    requestBody === undefined
      ? ""
      : `<label>Body<textarea name="body" rows="8" spellcheck="false">${escapeHtml(JSON.stringify(example ?? {}, null, 2))}</textarea></label>\n`;
  return `<section class="live" aria-labelledby="try-it">
<h2 id="try-it">Try it</h2>
<noscript><p>This form needs JavaScript.</p></noscript>
<form class="request" data-method="${method}" data-path="${path}" hidden>
${key}${inputs.join("")}${body}<p class="hint">Sends a real request to this gateway.</p>
<button>Send request</button>
<div class="result" role="status"></div>
</form>
</section>`;
}
