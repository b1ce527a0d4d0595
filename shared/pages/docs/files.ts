import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { brand, filled } from "../../notices/brand/brand.ts";
import { config } from "../../platform/config.ts";
import { acceptsGzip } from "../../platform/http/accepts-gzip.ts";
import { readCompressed } from "../../platform/http/compressed-file.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";

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
  yaml: "application/yaml",
  tgz: "application/gzip",
  whl: "application/zip",
};

const archive = /\.(tgz|whl)$/;

interface ServedFile {
  readonly plain: string | Buffer;
  /** Absent for an archive, which is compressed already. */
  readonly compressed?: Buffer;
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
  const [, page] = /^(?:[a-z]+\/)?([\w-]+)\/$/.exec(address) ?? [];
  if (page !== undefined) return { status: 302, headers: { Location: `../${page}` }, body: "" };
  const name = fileNameOf(address);
  const file = name === undefined ? undefined : await read(name);
  if (name !== undefined && file !== undefined) return response(name, file, acceptEncoding);
  const notFound = await read("404.html");
  if (notFound === undefined) throw new Error("the documentation has no page for unknown addresses");
  // The links of this page depend on the depth of the address.
  const root = "../".repeat(address.split("/").length);
  const plain = String(notFound.plain).replaceAll("{{root}}", root);
  return { ...response("404.html", { plain }, undefined), status: 404 };
}

/** Returns the file of an address; undefined for an address that no file can have. */
function fileNameOf(address: string): string | undefined {
  const [, path = "", ending] =
    /^((?:[a-z]+\/)?[\w-][\w.-]*?)(?:\.(md|css|js|json|txt|tgz|whl))?$/.exec(address) ?? [];
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
  const built = await readCompressed(name).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (built === undefined || archive.test(name)) return built && { plain: built };
  const plain = filledIn(name, built.toString("utf8"));
  return { plain, compressed: await promisify(gzip)(plain, { level: 9 }) };
}

/** Fills in the brand and the public address. Only HTML needs an escaped name: no name has a quote or a backslash. */
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
  const usesGzip = compressed !== undefined && acceptsGzip(acceptEncoding);
  const ending = name.split(".").at(-1) ?? "";
  const charset = archive.test(name) ? "" : "; charset=utf-8";
  return {
    headers: {
      "Content-Type": `${contentTypes[ending]}${charset}`,
      // Names of scripts and style sheets have a hash of their contents.
      "Cache-Control":
        ending === "js" || ending === "css" ? "public, max-age=31536000, immutable" : "public, max-age=300",
      "Content-Security-Policy": contentSecurityPolicy,
      Vary: "Accept-Encoding",
      ...(usesGzip ? { "Content-Encoding": "gzip" } : {}),
    },
    body: usesGzip ? compressed : plain,
  };
}

/** Returns the OpenAPI document, whose title is the name of the brand. */
export async function openApiFile(
  format: "json" | "yaml",
  acceptEncoding: string | undefined,
): Promise<RawResponse> {
  const name = `openapi.${format}`;
  const file = await read(name);
  if (file === undefined) throw new Error(`the build has made no ${name}`);
  return response(name, file, acceptEncoding);
}
