import { inlinePage } from "../platform/http/inline-page.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

/*
 * The reference page. Swagger UI draws it from /openapi.json, and the page contacts no other host. Its paths are
 * relative, so that it also works under a path prefix.
 */

const script = `
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const style = `
body { margin: 0; }
.swagger-ui .wrapper { max-width: 1180px; }
.swagger-ui .info { margin: 32px 0 16px; }
.swagger-ui .info .title small.version-stamp { background-color: #2f6f4f; }
.swagger-ui .renderedMarkdown { line-height: 1.5; }
.swagger-ui .renderedMarkdown p { margin: 0.6em 0; }
.swagger-ui .info .renderedMarkdown code, .swagger-ui .renderedMarkdown code {
  color: inherit; font-weight: 500; padding: 1px 4px;
}
.swagger-ui .info .renderedMarkdown :is(td, th) { padding: 4px 16px 4px 0; vertical-align: top; }
.swagger-ui .info .renderedMarkdown td:first-child { white-space: nowrap; }
.swagger-ui .scheme-container { padding: 16px 0; box-shadow: none; border-block: 1px solid rgb(128 128 128 / 25%); }
.swagger-ui .parameters-col_name { min-width: 150px; }
`;

const page = inlinePage({
  title: "SMS gateway: API reference",
  style,
  script,
  files: { style: "docs/swagger-ui.css", script: "docs/swagger-ui-bundle.js" },
  body: `<main id="reference"></main>
<noscript>This page needs JavaScript; <a href="openapi.json">openapi.json</a> says the same without.</noscript>`,
});

export function docsPage(): RawResponse {
  return { ...page, headers: { ...page.headers, "Cache-Control": "public, max-age=300" } };
}
