import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

import { brand, filled } from "../brand/brand.ts";
import { config } from "../platform/config.ts";
import { acceptsGzip } from "../platform/http/accepts-gzip.ts";
import { compressedFile } from "../platform/http/compressed-file.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html",
  md: "text/markdown",
  txt: "text/plain",
  css: "text/css",
  js: "text/javascript",
  json: "application/json",
};

interface ServedFile {
  readonly compressed: Buffer;
  readonly plain: string;
}

/** The files with their texts filled in, as long as the function runs. */
const served = new Map<string, Promise<ServedFile | undefined>>();

/**
 * Returns a page or a file of the documentation, or the page for unknown addresses with the status 404.
 * @param address the part of the path after `/docs/`
 */
export async function documentationPage(
  address: string,
  acceptEncoding: string | undefined,
): Promise<RawResponse> {
  const name = fileNameOf(address);
  const file = name === undefined ? undefined : await read(name);
  if (name !== undefined && file !== undefined) return response(name, file, acceptEncoding);
  const notFound = await read("404.html");
  if (notFound === undefined) throw new Error("the documentation has no page for unknown addresses");
  // The links of this page depend on the depth of the address.
  const root = "../".repeat(address.split("/").length);
  const body = notFound.plain.replaceAll("{{root}}", root);
  return { ...response("404.html", { ...notFound, plain: body }, undefined), status: 404 };
}

/** Returns the file of an address; undefined for an address that no file can have. */
function fileNameOf(address: string): string | undefined {
  const [, path = "", ending] =
    /^((?:[a-z]+\/)?[\w-][\w.-]*?)(?:\.(md|css|js|json|txt))?$/.exec(address) ?? [];
  return path === "" ? undefined : `${path.replace("/", "--")}.${ending ?? "html"}`;
}

async function read(name: string): Promise<ServedFile | undefined> {
  const known = served.get(name);
  if (known !== undefined) return known;
  const reading = readFilled(name);
  // Unknown names are not kept: callers can invent any number of them.
  if ((await reading) !== undefined) served.set(name, reading);
  return reading;
}

async function readFilled(name: string): Promise<ServedFile | undefined> {
  const compressed = await readFile(new URL(`./${name}.gz`, import.meta.url)).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (compressed === undefined) return undefined;
  const plain = filledIn(name, (await promisify(gunzip)(compressed)).toString("utf8"));
  return { plain, compressed: await promisify(gzip)(plain, { level: 9 }) };
}

/** Fills in the brand and the public address. Only HTML needs an escaped name. */
function filledIn(name: string, text: string): string {
  const addressed = text.replaceAll("{{brand.url}}", config.apiUrl());
  return name.endsWith(".html")
    ? filled(addressed)
    : addressed.replaceAll("{{brand.name}}", () => brand().name);
}

function response(
  name: string,
  { plain, compressed }: ServedFile,
  acceptEncoding: string | undefined,
): RawResponse {
  const takesGzip = acceptsGzip(acceptEncoding);
  const ending = name.split(".").at(-1) ?? "";
  return {
    headers: {
      "Content-Type": `${contentTypes[ending]}; charset=utf-8`,
      // Names of scripts and style sheets have a hash of their contents.
      "Cache-Control":
        ending === "js" || ending === "css" ? "public, max-age=31536000, immutable" : "public, max-age=300",
      "Content-Security-Policy": contentSecurityPolicy,
      Vary: "Accept-Encoding",
      ...(takesGzip ? { "Content-Encoding": "gzip" } : {}),
    },
    body: takesGzip ? compressed : plain,
  };
}

/** Returns the OpenAPI document, which the build has made. */
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
