import { createHash, timingSafeEqual } from "node:crypto";

import type { CallbackKind } from "../../api/contract/carriers.ts";
import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import type { CallbackReader, Fields } from "../../carriers/callback-reader.ts";
import { callbacksOfKinds } from "../../carriers/callbacks-of-kinds.ts";
import { readAuthToken } from "../../carriers/credentials.ts";
import { cachedCarriers, type CarrierRecord } from "../../carriers/record.ts";
import { now } from "../../platform/clock.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";
import { newId } from "../../platform/ids.ts";
import { enqueueAll } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { callbackJob, type CallbackJob } from "./callback-job.ts";
import { messageOf } from "./reference.ts";

/** A call from a caller that claims to be a carrier. */
export interface CarrierCall {
  readonly params: { readonly carrier: string; readonly callback: CallbackKind };
  readonly query: { readonly token?: string | undefined; readonly reference?: string | undefined };
  /**
   * The receipts or inbound messages of the call, in the carrier's own fields. A carrier may send several in one call.
   */
  readonly callbacks: readonly Fields[];
  readonly method: string;
  readonly path: string;
  readonly queryString: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A response that no carrier reads as a message to the phone. */
const nothing: RawResponse = {
  headers: { "Content-Type": "text/xml; charset=utf-8" },
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
};

/**
 * Returns a function that accepts a carrier callback: it authenticates the carrier, reads the call, and queues its
 * content. It reads the carriers from a cache of half a minute, so that a call makes one write, to the queue.
 *
 * The function throws ApiError NOT_FOUND for a caller that is not a carrier, and VALIDATION_ERROR where nothing can be
 * read. Neither the errors nor the log have details, but an alarm counts such calls. Unreadable parts of a call with
 * several are skipped, because the carrier would repeat the whole call forever.
 */
export function callbackReceiver(): (call: CarrierCall) => Promise<RawResponse> {
  const carriers = cachedCarriers();
  return async (call) => {
    const carrier = (await carriers()).carriers.get(call.params.carrier);
    if (!hasToken(carrier, call.query.token) || !(await isSigned(carrier, call))) {
      throw new ApiError("NOT_FOUND");
    }
    const reader = orNotFound(await callbacksOfKinds[carrier.settings.kind].reader?.(carrier.settings));
    const read = call.params.callback === "receipts" ? readReceipt : readInboundMessage;
    const understood = call.callbacks.flatMap((fields) => read(carrier, reader, { call, fields }) ?? []);
    if (understood.length < call.callbacks.length) {
      log.warn("callback.unreadable", { carrier: carrier.name });
      countMetrics({ UnreadableCallbacks: 1 });
      countMetrics({ CarrierUnreadableCallbacks: 1 }, carrier.name);
    }
    if (understood.length === 0) throw notUnderstood();
    await enqueueAll(
      understood.flatMap((callback) => (callback === "intermediate" ? [] : callbackJob(callback))),
    );
    return nothing;
  };
}

/** Whether a call has a token of its carrier: the present one, or that before a rotation. Each check takes the same time. */
function hasToken(carrier: CarrierRecord | undefined, token = ""): carrier is CarrierRecord {
  const given = createHash("sha256").update(token).digest();
  const { callbackTokenHash, previousTokenHash, previousTokenUntil = "" } = carrier ?? {};
  const previous = previousTokenUntil > now().toISOString() ? previousTokenHash : undefined;
  const isOne = [callbackTokenHash, previous].map((hash = "") => {
    const expected = Buffer.from(hash, "hex");
    const isKnown = expected.byteLength === given.byteLength;
    return timingSafeEqual(given, isKnown ? expected : Buffer.alloc(given.byteLength)) && isKnown;
  });
  return isOne.includes(true);
}

/** Whether a call is signed, where the carrier signs its calls. */
async function isSigned(carrier: CarrierRecord, call: CarrierCall): Promise<boolean> {
  const callbacks = callbacksOfKinds[carrier.settings.kind];
  if (callbacks.isSigned === undefined) return true;
  const { callbackBaseUrl, callbackSecretId } = carrier;
  const [fields, ...others] = call.callbacks;
  // A signature covers the fields of a single receipt or message.
  if (fields === undefined || others.length > 0) return false;
  if (call.method !== "POST" || callbackBaseUrl === undefined || callbackSecretId === undefined) return false;
  const url = `${callbackBaseUrl}${call.path}?${call.queryString}`;
  return callbacks.isSigned({ url, fields, headers: call.headers }, await readAuthToken(callbackSecretId));
}

/** One receipt or inbound message, and its call. */
interface CallbackPart {
  readonly call: CarrierCall;
  readonly fields: Fields;
}

/** `intermediate` is a receipt with an intermediate status, which changes nothing visible. */
type Understood = CallbackJob | "intermediate";

function readReceipt(
  carrier: CarrierRecord,
  { receipt: read }: CallbackReader,
  { call, fields }: CallbackPart,
): Understood | undefined {
  const receipt = read(fields);
  // The reference in the address identifies one message. In a call with several receipts each has its own reference.
  const ofCall = call.callbacks.length === 1 ? call.query.reference : undefined;
  const message = messageOf(receipt?.reference ?? ofCall);
  if (receipt === undefined || message === undefined) return undefined;
  const { status, errorCode, providerCode } = receipt;
  if (status === "pending") return "intermediate";
  const at = now().toISOString();
  return { kind: "receipt", carrier: carrier.name, ...message, status, errorCode, providerCode, at };
}

function readInboundMessage(
  carrier: CarrierRecord,
  { inbound: read }: CallbackReader,
  { call, fields }: CallbackPart,
): Understood | undefined {
  const inbound = read(fields, call.queryString);
  if (inbound === undefined) return undefined;
  const callbackId = newId("inb");
  // Without ids from the carrier each inbound message counts as new.
  const carrierId = inbound.carrierId?.trim() || callbackId;
  const receivedAt = now().toISOString();
  return { kind: "inbound", ...inbound, callbackId, carrierId, carrier: carrier.name, receivedAt };
}

function notUnderstood(): ApiError {
  return new ApiError("VALIDATION_ERROR", { message: "The callback cannot be read." });
}
