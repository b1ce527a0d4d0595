import type { ErrorDetail } from "../../api/contract/errors.ts";

/*
 * The responses of a thousand results have to fit in the item of an Idempotency-Key, which DynamoDB limits to 400 KB.
 */

/** Returns the first details of an error that have a number of bytes as JSON. If not even the first one fits, it loses its path. */
export function firstDetails(details: readonly ErrorDetail[], maxBytes: number): ErrorDetail[] {
  let end = details.length;
  while (end > 0 && bytesOf(details.slice(0, end)) > maxBytes) end -= 1;
  return end > 0 ? details.slice(0, end) : details.slice(0, 1).map(({ message }) => ({ path: "", message }));
}

/** Returns the bytes of a value as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
