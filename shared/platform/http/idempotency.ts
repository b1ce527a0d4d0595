import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { IdempotencyKey } from "../../api/contract/primitives.ts";
import { keepsResponse, type Route, type ServedRoute } from "../../api/routes/route.ts";
import { dayMs, epochSeconds, now, secondMs } from "../clock.ts";
import { log } from "../log.ts";
import { keys, type Key } from "../table/keys.ts";
import { hasLease, newLease, whileLeasedBy, type Lease, whileFree } from "../table/lease.ts";
import { findItem } from "../table/read.ts";
import { deleteItem, putItem, putOf, type Update, updateItem, updateOf } from "../table/write.ts";
import type { Attempt, BegunAttempt, EndpointEvent, EndpointMiddleware, Replay } from "./event.ts";
import { routeName, success, type Call } from "./pipeline.ts";

/** Longer than a function can run, so that another attempt begins only after the first cannot run any more. */
const attemptLeaseMs = 30 * secondMs;

/** How long a response is kept (IETF draft on the Idempotency-Key header: the server's choice, published). */
const retentionMs = dayMs;

export const IdempotencyRecord = z.object({
  entity: z.literal("idempotency"),
  /** Distinguishes requests with the same key. */
  requestHash: z.string(),
  /** The lease of the attempt: an older attempt that writes late is rejected. */
  leaseToken: z.string(),
  leaseUntil: z.string(),
  /** The `data` of the response as JSON, once the request is done. */
  answer: z.optional(z.string()),
  expiresAt: z.int(),
});
type IdempotencyRecord = z.infer<typeof IdempotencyRecord>;

interface Request {
  readonly organizationId: string;
  readonly key: string;
  /** Distinguishes requests with the same key. */
  readonly content: unknown;
}

/** Executes a request with an Idempotency-Key once, on routes that support it. */
export function idempotency(route: ServedRoute): EndpointMiddleware[] {
  if (route.idempotent !== true) return [];
  if (!keepsResponse(route)) return [{ before: ({ event }) => void keyOf(event) }];
  return [
    {
      before: async ({ event }) => {
        const key = keyOf(event);
        if (key === undefined || event.viewer === undefined) return;
        const { params, query, body } = event.input ?? {};
        const hashed = route.unhashed === undefined ? body : { ...Object(body), [route.unhashed]: undefined };
        // People have roles, so no one gets the response to another person.
        const person = route.auth === "session" ? [event.actor?.userId] : [];
        const content = [routeName(route), params, query, hashed, ...person];
        const { organizationId, isTest } = event.viewer;
        // A live request never gets the response of a test request. The space keeps the names apart: no caller's key has one.
        const keyOfKind = isTest ? `test ${key}` : key;
        const begun = await begin({ organizationId, key: keyOfKind, content });
        if ("answer" in begun) event.replayed = begun;
        else event.attempt = begun;
      },
      onError: async (request) => {
        const done = await request.event.attempt?.fail();
        if (done === undefined) return;
        request.response = success(route, done.answer);
        request.error = null;
      },
    },
  ];
}

function keyOf(event: EndpointEvent): string | undefined {
  const parsed = z.optional(IdempotencyKey).safeParse(event.headers["idempotency-key"]);
  if (parsed.success) return parsed.data;
  throw invalidField("Idempotency-Key", parsed.error.issues[0]?.message ?? "is not valid");
}

/**
 * Stores the response after the request. For operations that may be executed again after a crash in between: that is a
 * conflict, or one more invitation, submission or test call.
 */
export function storingResponse<Received extends Pick<Call<Route>, "attempt">, Data>(
  handle: (call: Received) => Promise<Data>,
): (call: Received) => Promise<Data> {
  return async (call) => {
    const data = await handle(call);
    try {
      // Rejected if another attempt has begun meanwhile.
      if (call.attempt !== undefined) await updateItem(z.unknown(), call.attempt.complete(data));
    } catch (error) {
      log.warn("idempotency.not_stored", { error });
    }
    return data;
  };
}

/**
 * Executes a request once for each key of an organization, outside of the API.
 * @returns the response, and whether it is the one of an earlier request
 * @throws ApiError IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, and whatever `execute` throws
 */
export async function once(
  request: Request,
  execute: (attempt: Attempt) => Promise<unknown>,
): Promise<Replay & { readonly replayed: boolean }> {
  const begun = await begin(request);
  if ("answer" in begun) return { ...begun, replayed: true };
  try {
    return { answer: await execute(begun), replayed: false };
  } catch (error) {
    const done = await begun.fail();
    if (done === undefined) throw error;
    return { ...done, replayed: false };
  }
}

/**
 * Begins a request, or finds the response that it received before. One transaction has the writes of the request and its
 * response, so a crash leaves both or neither. A request that failed is deleted and can be sent again with the same key.
 * @throws ApiError IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
 */
async function begin(request: Request): Promise<BegunAttempt | Replay> {
  const key = keys.idempotency(request.organizationId, sha256(request.key));
  const hash = sha256(JSON.stringify(request.content));
  const { answer, ...lease } = await takeUp(key, hash);
  if (answer !== undefined) return { answer: JSON.parse(answer) };
  return {
    request: { key: request.key, hash },
    complete: (done) => completion(key, lease, done),
    fail: async () => forget(key, lease),
  };
}

async function takeUp(key: Key<"idempotency">, requestHash: string): Promise<IdempotencyRecord> {
  const at = now();
  const record: IdempotencyRecord = {
    entity: "idempotency",
    requestHash,
    ...newLease(at, attemptLeaseMs),
    expiresAt: epochSeconds(new Date(at.getTime() + retentionMs)),
  };
  const put = await putItem(
    putOf(key, record, {
      // DynamoDB deletes expired items days later, so the condition looks at the time itself.
      anyOf: [
        { absent: ["pk"] },
        { atMost: { expiresAt: epochSeconds(at) } },
        whileFree<"idempotency">(at, { is: { requestHash }, absent: ["answer"] }),
      ],
    }),
    { isOwn: hasLease(record) },
  );
  if (put.applied) return record;
  const found = IdempotencyRecord.parse(put.found);
  if (found.requestHash !== requestHash) throw new ApiError("IDEMPOTENCY_KEY_REUSED");
  if (found.answer === undefined) throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
  return found;
}

function completion(key: Key<"idempotency">, lease: Lease, answer: unknown): Update<"idempotency"> {
  return updateOf(
    key,
    { set: { answer: JSON.stringify(answer) } },
    whileLeasedBy(lease, { absent: ["answer"] }),
  );
}

async function forget(key: Key<"idempotency">, { leaseToken }: Lease): Promise<Replay | undefined> {
  try {
    const forgotten = await deleteItem(key, {
      anyOf: [{ absent: ["pk"] }, { is: { leaseToken }, absent: ["answer"] }],
    });
    if (forgotten.applied) return undefined;
    const record = await findItem(IdempotencyRecord, key, { consistent: true });
    if (record?.answer === undefined || record.leaseToken !== leaseToken) return undefined;
    return { answer: JSON.parse(record.answer) };
  } catch (error) {
    // The attempt stays until its lease ends; then the key can be used again.
    log.warn("idempotency.not_forgotten", { error });
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
