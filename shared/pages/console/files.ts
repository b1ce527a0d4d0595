import { readFile } from "node:fs/promises";

import type { ConsoleFeature } from "../../api/contract/console.ts";
import { filled } from "../../notices/brand/brand.ts";
import { config } from "../../platform/config.ts";
import { compressedFile } from "../../platform/http/compressed-file.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";

/** The page loads only files of the gateway and contains no inline scripts or styles. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The console's page with its script, style sheet, feature names and currency. */
export async function consolePage(): Promise<RawResponse> {
  // The page is too short to compress.
  const page = await readFile(new URL("./index.html", import.meta.url), "utf8");
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    // Browsers check on each visit whether a release has replaced the file names.
    "Cache-Control": "no-cache",
    "Content-Security-Policy": contentSecurityPolicy,
    "Cross-Origin-Opener-Policy": "same-origin",
  };
  return {
    headers,
    body: filled(page)
      .replace("{{features}}", features().join(" "))
      .replace("{{currency}}", config.currency()),
  };
}

/** Optional features of this stage: its documentation, payments, carrier, top-ups and policies for senders. */
export function features(): ConsoleFeature[] {
  return [
    ...(config.docsEnabled() ? (["docs"] as const) : []),
    ...(config.paymentsEnabled() ? (["payments"] as const) : []),
    ...(config.carrier() === "sandbox" ? (["sandbox"] as const) : []),
    ...(config.topUpEnabled() ? (["top-up"] as const) : []),
    ...(config.verifiedEmailBeforeSending() ? (["verified-email"] as const) : []),
    ...(config.kycBeforeSending() ? (["kyc"] as const) : []),
    ...(config.approvedSenderIdsOnly() ? (["approved-sender-ids"] as const) : []),
  ];
}

/**
 * A script or style sheet of the console. Its name contains a hash of its content, so it never changes.
 * @throws ApiError NOT_FOUND
 */
export async function consoleFile(file: string, acceptEncoding: string | undefined): Promise<RawResponse> {
  const headers = {
    "Content-Type": file.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
    "Cache-Control": "public, max-age=31536000, immutable",
  };
  return compressedFile(file, headers, acceptEncoding);
}
