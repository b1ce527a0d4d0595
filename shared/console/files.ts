import { readFile } from "node:fs/promises";

import type { ConsoleFeature } from "../contract/console.ts";
import { config } from "../platform/config.ts";
import { compressedFile } from "../platform/http/compressed-file.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";

/** All that the page loads or asks comes from the gateway itself; no script or style stands in the page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page of the console, which names the scripts and the style sheet that belong to it, and what the stage has. */
export async function consolePage(): Promise<RawResponse> {
  // It is shorter than what it would save to compress it.
  const page = await readFile(new URL("./index.html", import.meta.url), "utf8");
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    // A new release has other files; whoever has the page asks whether there is one.
    "Cache-Control": "no-cache",
    "Content-Security-Policy": contentSecurityPolicy,
    "Cross-Origin-Opener-Policy": "same-origin",
  };
  return { headers, body: page.replace("{{features}}", features().join(" ")) };
}

/**
 * What not every stage has, and the console speaks of: an API reference, a carrier that sends nothing, and top-ups by the
 * customer.
 */
export function features(): ConsoleFeature[] {
  return [
    ...(config.docsEnabled() ? (["docs"] as const) : []),
    ...(config.carrier() === "sandbox" ? (["sandbox"] as const) : []),
    ...(config.topUpEnabled() ? (["top-up"] as const) : []),
  ];
}

/**
 * A script or style sheet of the console. Its name says which build it is of, so that it is never another.
 * @throws ApiError NOT_FOUND
 */
export async function consoleFile(file: string, acceptEncoding: string | undefined): Promise<RawResponse> {
  const headers = {
    "Content-Type": file.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
    "Cache-Control": "public, max-age=31536000, immutable",
  };
  return compressedFile(file, headers, acceptEncoding);
}
