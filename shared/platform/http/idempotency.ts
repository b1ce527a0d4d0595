import { createHash, randomUUID } from "node:crypto";

import * as z from "zod";

import { ApiError } from "../../contract/errors.ts";
import { dayMs, epochSeconds, now, secondMs } from "../clock.ts";
import { log } from "../log.ts";
import { keys, type Key } from "../table/keys.ts";
import { deleteItem, putItem, readItem, type Update } from "../table/table.ts";
import { updateOf } from "../table/update.ts";

/** Longer than a function can run, so that an attempt is followed by another only when it is surely gone. */
const leaseMs = 30 * secondMs;

/** How long an answer is kept (IETF draft on the Idempotency-Key header: the server's choice, published). */
const retentionMs = dayMs;

const IdempotencyRecord = z.object({
  entity: z.literal("idempotency"),
  /** Tells one request from another that came with the same key. */
  requestHash: z.string(),
  /** Whose attempt it is; an older attempt that writes late is refused. */
  attemptToken: z.string(),
  leaseUntil: z.string(),
  /** The `data` of the answer as JSON, once the request is done. */
  answer: z.string().optional(),
  expiresAt: z.int(),
});
type IdempotencyRecord = z.infer<typeof IdempotencyRecord>;

/** One try at an idempotent request. */
export interface Attempt {
  /** The write that stores the answer. It belongs into the transaction of what the request does. */
  complete(answer: unknown): Update;
}

/**
 * Does a request once for each Idempotency-Key of an organisation. What it does and the note that it is done
 * are one transaction, so a crash leaves both or neither. A request that failed is forgotten and can be sent
 * again with the same key.
 * @returns the answer, and whether it is the one of an earlier request
 * @throws ApiError IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, and whatever `execute` throws
 */
export async function once(
  request: { readonly organizationId: string; readonly key: string; readonly content: unknown },
  execute: (attempt: Attempt) => Promise<unknown>,
): Promise<{ readonly answer: unknown; readonly replayed: boolean }> {
  const key = keys.idempotency(request.organizationId, sha256(request.key));
  const begun = await begin(key, sha256(JSON.stringify(request.content)));
  if (begun.answer !== undefined) return { answer: JSON.parse(begun.answer), replayed: true };
  try {
    const answer = await execute({ complete: (done) => completion(key, begun.attemptToken, done) });
    return { answer, replayed: false };
  } catch (error) {
    return { answer: await answerOfFailedAttempt(key, begun.attemptToken, error), replayed: false };
  }
}

async function begin(key: Key, requestHash: string): Promise<IdempotencyRecord> {
  const at = now();
  const record: IdempotencyRecord = {
    entity: "idempotency",
    requestHash,
    attemptToken: randomUUID(),
    leaseUntil: new Date(at.getTime() + leaseMs).toISOString(),
    expiresAt: epochSeconds(new Date(at.getTime() + retentionMs)),
  };
  const put = await putItem(
    {
      put: { ...key, ...record },
      // DynamoDB deletes expired items days later, so the condition looks at the time itself.
      condition:
        "attribute_not_exists(pk) OR expiresAt <= :now OR " +
        "(attribute_not_exists(answer) AND requestHash = :requestHash AND leaseUntil < :at)",
      values: { ":now": epochSeconds(at), ":at": at.toISOString(), ":requestHash": requestHash },
    },
    { isOwn: (found) => found["attemptToken"] === record.attemptToken },
  );
  if (put.applied) return record;
  const found = IdempotencyRecord.parse(put.found);
  if (found.requestHash !== requestHash) throw new ApiError("IDEMPOTENCY_KEY_REUSED");
  if (found.answer === undefined) throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
  return found;
}

function completion(key: Key, attemptToken: string, answer: unknown): Update {
  return updateOf(
    key,
    { set: { answer: JSON.stringify(answer) } },
    { is: { attemptToken }, absent: ["answer"] },
  );
}

/**
 * Forgets an attempt that failed, which also refuses whatever it still has under way. If it turns out to be
 * done all the same, because only the answer to its last write was lost, it has not failed.
 */
async function answerOfFailedAttempt(key: Key, attemptToken: string, error: unknown): Promise<unknown> {
  const forgotten = await deleteItem(key, {
    condition: "attribute_not_exists(pk) OR (attemptToken = :attemptToken AND attribute_not_exists(answer))",
    values: { ":attemptToken": attemptToken },
  }).catch((failure: unknown) => {
    // The attempt stays until its lease ends; then the key can be used again.
    log.warn("idempotency.not_forgotten", { error: failure });
  });
  if (forgotten?.applied !== false) throw error;
  const record = await readItem(IdempotencyRecord, key, { consistent: true });
  if (record?.answer === undefined || record.attemptToken !== attemptToken) throw error;
  return JSON.parse(record.answer);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
