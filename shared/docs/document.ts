import { gzipSync } from "node:zlib";

import { openApiDocument } from "../openapi.ts";
import { acceptsGzip } from "../platform/http/accepts-gzip.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

let made: { readonly document: string; readonly compressed: Uint8Array } | undefined;

/** The OpenAPI document, made with the first call that asks for it. */
export function openApiResponse(acceptEncoding: string | undefined): RawResponse {
  made ??= makeDocument();
  const takesGzip = acceptsGzip(acceptEncoding);
  return {
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      ...(takesGzip ? { "Content-Encoding": "gzip" } : {}),
      Vary: "Accept-Encoding",
      "Cache-Control": "public, max-age=300",
    },
    body: takesGzip ? made.compressed : made.document,
  };
}

function makeDocument(): NonNullable<typeof made> {
  const document = JSON.stringify(openApiDocument());
  return { document, compressed: gzipSync(document) };
}
