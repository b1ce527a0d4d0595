import type * as z from "zod/mini";

import { log } from "../log.ts";
import { countMetrics } from "../metrics.ts";
import type { Key } from "./keys.ts";

/** An item has another shape than its record, so no known release wrote it. */
export class UnreadableRecordError extends Error {
  readonly key: Key;

  constructor(key: Key, cause?: unknown) {
    super(`the record ${loggableKey(key)} cannot be read`, { cause });
    this.key = key;
  }
}

/** Handles the error for callers that do not fail because of one record. It has been reported. */
export function undefinedIfUnreadable(error: unknown): undefined {
  if (error instanceof UnreadableRecordError) return undefined;
  throw error;
}

/** Handles the error for callers that distinguish an unreadable record from none. */
export function unreadableOf(error: unknown): "unreadable" {
  if (error instanceof UnreadableRecordError) return "unreadable";
  throw error;
}

/** The most keys in one report. */
const maxReported = 10;

/** Reports unreadable records in one log line: their keys and the error of the first, without their content. */
export function reportUnreadable(errors: readonly UnreadableRecordError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const recordKeys = errors.slice(0, maxReported).map(({ key }) => loggableKey(key));
  log.error("record.unreadable", { recordKeys, count: errors.length, error: first.cause });
  countMetrics({ UnreadableRecords: errors.length });
}

/** Returns a key without an email or a phone number, which must not be logged. */
function loggableKey({ pk, sk }: Key): string {
  if (/^(EMAIL|LIMIT)#/.test(pk)) return pk.replace(/#.*/, "#…");
  if (pk.startsWith("OPT_OUTS#")) return `${pk} …`;
  return `${pk} ${sk.replace(/^PHONE#.*/, "PHONE#…")}`;
}

/** @throws UnreadableRecordError, which has been reported */
export function parsed<Item>(schema: z.ZodMiniType<Item>, key: Key, item: unknown): Item {
  const result = schema.safeParse(item);
  if (result.success) return result.data;
  const error = new UnreadableRecordError(key, result.error);
  reportUnreadable([error]);
  throw error;
}
