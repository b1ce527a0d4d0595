import { openApiDocument } from "../openapi.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

let document: string | undefined;

/** The OpenAPI document, made with the first call that asks for it. */
export function openApiResponse(): RawResponse {
  document ??= JSON.stringify(openApiDocument());
  return {
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": "public, max-age=300",
    },
    body: document,
  };
}
