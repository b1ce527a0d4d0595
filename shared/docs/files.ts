import type { DocsFile } from "../contract/docs.ts";
import { compressedFile } from "../platform/http/compressed-file.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

const contentTypes: Readonly<Record<DocsFile, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

/** A file that the reference page loads. */
export async function docsFile(file: DocsFile, acceptEncoding: string | undefined): Promise<RawResponse> {
  const headers = { "Content-Type": contentTypes[file], "Cache-Control": "public, max-age=86400" };
  return compressedFile(file, headers, acceptEncoding);
}

/** The OpenAPI document, which the build has made. */
export async function openApiFile(
  format: "json" | "yaml",
  acceptEncoding: string | undefined,
): Promise<RawResponse> {
  const headers = {
    "Content-Type": `application/${format}; charset=utf-8`,
    "Cache-Control": "public, max-age=300",
  };
  return compressedFile(`openapi.${format}`, headers, acceptEncoding);
}
