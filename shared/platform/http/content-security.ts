import { createHash } from "node:crypto";

/** What lets an inline script or style run under a Content-Security-Policy that forbids all others. */
export function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
