import * as z from "zod/mini";

import { BatchResult } from "../../api/contract/batches.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { dayMs, epochSeconds, now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { putOf, type Put } from "../../platform/table/write.ts";

/** How long the results of a batch are kept: a repeat within this time continues it, and sends nothing twice. */
const retentionMs = 30 * dayMs;

/**
 * The results of a block of messages of a batch that has an Idempotency-Key. It is written once, together with the messages
 * and their charges. So of two requests that decide about a block, also a week apart, one finds the results of the other.
 */
export const BatchBlock = z.object({
  entity: z.literal("batchBlock"),
  /** Distinguishes requests with the same key. */
  requestHash: z.string(),
  results: z.array(z.extend(BatchResult, { id: z.optional(z.string()) })),
  totalMicros: z.int(),
  expiresAt: z.int(),
});
type BatchBlock = z.infer<typeof BatchBlock>;

/** The results of a block. */
export type Decided = Pick<BatchBlock, "results" | "totalMicros">;

/** A block of a batch: the position of its first message, and the hash of its request. */
export interface BlockName {
  readonly organizationId: string;
  readonly batchId: string;
  readonly start: number;
  readonly requestHash: string;
}

/**
 * Rejects a batch of which a block has results and an earlier block has none any more, because blocks are decided in order.
 * Their messages would be sent twice.
 * @throws ApiError IDEMPOTENCY_KEY_REUSED
 */
export async function requireInOrder(
  blocks: readonly { readonly name: BlockName | undefined; readonly earlier: Decided | undefined }[],
): Promise<void> {
  const first = blocks.findIndex(({ earlier }) => earlier === undefined);
  const name = blocks[first]?.name;
  if (name === undefined || blocks.slice(first).every(({ earlier }) => earlier === undefined)) return;
  // A parallel attempt may have decided both blocks between the reads of the first and the second.
  if ((await findBlock(name)) !== undefined) return;
  throw new ApiError("IDEMPOTENCY_KEY_REUSED", {
    message: "The first results of this Idempotency-Key have expired.",
  });
}

/** Returns the write of a block's results. It is rejected if it has results. */
export function decideBlock(
  { organizationId, batchId, start, requestHash }: BlockName,
  { results, totalMicros }: Decided,
): Put<"batchBlock"> {
  const at = now();
  const expiresAt = epochSeconds(new Date(at.getTime() + retentionMs));
  const record: BatchBlock = { entity: "batchBlock", requestHash, results, totalMicros, expiresAt };
  return putOf(keys.batchBlock(organizationId, batchId, start), record, {
    anyOf: [{ absent: ["pk"] }, { atMost: { expiresAt: epochSeconds(at) } }],
  });
}

/** Finds the results of a block as they are now. @throws ApiError IDEMPOTENCY_KEY_REUSED for those of another request */
export async function findBlock({
  organizationId,
  batchId,
  start,
  requestHash,
}: BlockName): Promise<Decided | undefined> {
  const key = keys.batchBlock(organizationId, batchId, start);
  const found = await findItem(BatchBlock, key, { consistent: true });
  if (found === undefined || found.expiresAt <= epochSeconds(now())) return undefined;
  if (found.requestHash !== requestHash) throw new ApiError("IDEMPOTENCY_KEY_REUSED");
  return found;
}
