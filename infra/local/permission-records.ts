import { appendFileSync } from "node:fs";
import path from "node:path";
import { threadId } from "node:worker_threads";

import { kindsOfAccess } from "./permissions.ts";

const folder = process.env["PERMISSION_RECORDS"];

/** Whether functions may access all items and queues, so that `npm run permissions` records what they need. */
export const recordsPermissions = folder !== undefined;

const recorded = new Set<string>();

/**
 * Records what a request on the table or a queue needs, once, in the form of `infra/stack/permissions.txt`.
 * @param description of the function
 * @returns whether the request is recorded instead of checked
 */
export function isRecorded(description: string, operation: string, body: unknown): boolean {
  if (folder === undefined) return false;
  const [, name] = /^Permissions: (\w+) in /.exec(description) ?? [];
  const kinds = name === undefined ? [] : kindsOfAccess(operation, body);
  const lines = kinds.map((kind) => `${name} ${kind}\n`).filter((line) => !recorded.has(line));
  for (const line of lines) recorded.add(line);
  if (lines.length > 0) appendFileSync(path.join(folder, `${process.pid}-${threadId}.txt`), lines.join(""));
  return kinds.length > 0;
}
