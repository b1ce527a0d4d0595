import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import type { DocsFile } from "../contract/docs.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";
import { acceptsGzip } from "./accepts-gzip.ts";

const contentTypes: Readonly<Record<DocsFile, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

/** A file that the reference page loads. The build has put it beside the function's bundle, compressed. */
export async function docsFile(file: DocsFile, acceptEncoding: string | undefined): Promise<RawResponse> {
  const compressed = await readFile(new URL(`./${file}.gz`, import.meta.url));
  const takesGzip = acceptsGzip(acceptEncoding);
  return {
    headers: {
      "Content-Type": contentTypes[file],
      ...(takesGzip ? { "Content-Encoding": "gzip" } : {}),
      Vary: "Accept-Encoding",
      "Cache-Control": "public, max-age=86400",
    },
    body: takesGzip ? compressed : await promisify(gunzip)(compressed),
  };
}
