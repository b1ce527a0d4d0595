import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import { ApiError } from "../../api/contract/errors.ts";
import { acceptsGzip } from "./accepts-gzip.ts";
import type { RawResponse } from "./pipeline.ts";

/**
 * Returns a file that the build has written next to the function's bundle, compressed as `<name>.gz`.
 * @param name without a slash, and not only dots
 * @throws ApiError NOT_FOUND
 */
export async function compressedFile(
  name: string,
  headers: Readonly<Record<string, string>>,
  acceptEncoding: string | undefined,
): Promise<RawResponse> {
  const compressed = await readFile(placeOf(name)).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new ApiError("NOT_FOUND");
    throw error;
  });
  const takesGzip = acceptsGzip(acceptEncoding);
  return {
    headers: {
      ...(takesGzip ? { "Content-Encoding": "gzip" } : {}),
      Vary: "Accept-Encoding",
      ...headers,
    },
    body: takesGzip ? compressed : await promisify(gunzip)(compressed),
  };
}

/** Returns the content of such a file. */
export async function readCompressed(name: string): Promise<Buffer> {
  return promisify(gunzip)(await readFile(placeOf(name)));
}

function placeOf(name: string): URL {
  return new URL(`./${name}.gz`, import.meta.url);
}
