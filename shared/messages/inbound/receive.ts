import { PhoneNumber } from "../../api/contract/phone-numbers.ts";
import { eventJob } from "../../notices/event-job.ts";
import { now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { inParts } from "../../platform/in-parts.ts";
import { enqueue, enqueueAll } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { deleteItem, insertOf, putItem } from "../../platform/table/write.ts";
import { effectsOf } from "../message/effects.ts";
import { retentionEnd } from "../message/record.ts";
import { testExpiry } from "../message/test-messages.ts";
import { keywordOf } from "../numbers/keywords.ts";
import { addresseesOf, findNumber, type Addressee } from "../numbers/record.ts";
import { recordWord } from "../opt-outs/opt-outs.ts";
import { deleteLifted } from "../opt-outs/record.ts";
import { addInbound, removeInbound } from "./conversations.ts";
import { wasErasedSince } from "./erased.ts";
import { inboundMessageJob, type TestInboundJob } from "./inbound-message-job.ts";
import { inboundPuts, InboundRecord, toApiInboundMessage, TakenRecord, takenKey } from "./record.ts";

/** An inbound message, as read from a callback. */
export interface ReceivedMessage {
  /** The id of the callback that brought it. */
  readonly callbackId: string;
  readonly carrier: string;
  /** The carrier's own id for it. */
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly message: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  /** The organizations that it is for, among those that share the number; undefined for all of them. */
  readonly organizationIds?: readonly string[] | undefined;
}

/** The most organizations of one job, which has twenty seconds. A number may be shared by a thousand. */
const addresseesPerJob = 50;

/** The organizations that are worked on at the same time. */
const addresseesAtOnce = 10;

/**
 * Stores an inbound message for the organizations of its number, applies a STOP or START, and publishes the event. It
 * discards a message from another carrier than the number's. A message that the carrier repeats is stored and applied once.
 * Where there are more organizations than one job can do, each part of them gets a job of its own.
 * @throws Error when the job must be repeated; it has tried each of its organizations before
 */
export async function receiveInboundMessage(inbound: ReceivedMessage): Promise<void> {
  const { organizationIds, ...whole } = inbound;
  const number = await findNumber(inbound.to);
  if ((number?.carrier ?? inbound.carrier) !== inbound.carrier) {
    // Its token may be stolen. Otherwise it could lift each STOP, and forge each reply.
    const { carrier } = inbound;
    log.warn("inbound.of_other_carrier", { carrier, organizationId: number?.organizationId });
    countMetrics({ DiscardedInboundMessages: 1 });
    return;
  }
  const all = addresseesOf(number, inbound.message);
  if (all.length === 0) {
    log.warn("inbound.without_organization");
    return;
  }
  if (organizationIds === undefined && all.length > addresseesPerJob) {
    await enqueueAll(
      inParts(all, addresseesPerJob).map((part) =>
        inboundMessageJob({ ...whole, organizationIds: part.map((each) => each.organizationId) }),
      ),
    );
    return;
  }
  const addressees = all.filter((each) => organizationIds?.includes(each.organizationId) ?? true);
  const failures: unknown[] = [];
  for (const part of inParts(addressees, addresseesAtOnce)) {
    const results = await Promise.allSettled(part.map(async (each) => receiveFor(each, whole)));
    failures.push(...results.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])));
  }
  if (failures.length > 0) throw failures[0];
}

async function receiveFor({ organizationId, keyword }: Addressee, inbound: ReceivedMessage): Promise<void> {
  const { from, to, message, receivedAt } = inbound;
  const expiresAt = retentionEnd(now());
  const isApplied = keyword === undefined || keyword === "help" || isPhone(from);
  if (!isApplied) {
    log.warn("inbound.keyword_not_applied", { carrier: inbound.carrier, organizationId });
    countMetrics({ UnappliedKeywords: 1 });
  }
  // The customer sees a STOP or START only if it has had its effect.
  const appliedKeyword = isApplied ? keyword : undefined;
  const record = { from, to, message, keyword: appliedKeyword, receivedAt, organizationId, expiresAt };
  const stored = await keep({ entity: "inboundMessage", id: newId("inb"), ...record }, inbound);
  if (stored === undefined) return;
  // Until the job that stored it is repeated, its STOP may not be obeyed.
  if (stored.isRepeated) await obey(stored.record, await wasErasedSince(organizationId, from, receivedAt));
  else await conclude(stored.record);
}

/** Whether an address can receive messages. A name or a short code cannot. */
function isPhone(from: string): boolean {
  return PhoneNumber.safeParse(from).success;
}

/**
 * Stores an inbound test message and publishes its event. Its keyword has no effect: it must not opt a live number out. A
 * repetition publishes the same event.
 */
export async function receiveTestMessage(inbound: Omit<TestInboundJob, "kind">): Promise<void> {
  const { id, organizationId, from, to, message, receivedAt } = inbound;
  const record: InboundRecord = {
    entity: "inboundMessage",
    id,
    organizationId,
    from,
    to,
    message,
    keyword: keywordOf(message),
    receivedAt,
    expiresAt: testExpiry(receivedAt),
  };
  const stored = await putItem(insertOf(keys.inbound(organizationId, id), record));
  await conclude(stored.applied ? record : InboundRecord.parse(stored.found));
}

/**
 * Stores a message. @returns the stored record, and whether the carrier has brought it before with another callback; undefined
 * if it was deleted since
 */
async function keep(
  record: InboundRecord,
  received: ReceivedMessage,
): Promise<{ readonly record: InboundRecord; readonly isRepeated: boolean } | undefined> {
  const { organizationId } = record;
  const { callbackId } = received;
  const key = takenKey(organizationId, received);
  const written = await transact(inboundPuts(record, { key, callbackId }));
  if (written.outcome === "committed") return { record, isRepeated: false };
  const taken = TakenRecord.parse(written.rejections.taken?.found);
  const stored = await findItem(InboundRecord, keys.inbound(organizationId, taken.inboundId), {
    consistent: true,
  });
  // An earlier worker may have ended between storing the message and the steps after it.
  return stored && { record: stored, isRepeated: taken.callbackId !== callbackId };
}

/** Applies the command of a stored message and publishes its event. A repetition publishes the same event. */
async function conclude(record: InboundRecord): Promise<void> {
  const { id, organizationId, from, receivedAt: timestamp } = record;
  const isErased = await wasErasedSince(organizationId, from, timestamp);
  if (effectsOf(record).hasLiveRules) await obey(record, isErased);
  if (!isErased) await addInbound(record);
  if (isErased || (await wasErasedSince(organizationId, from, timestamp))) {
    // The message is deleted last, because a repeated job needs it.
    await removeInbound(record);
    await deleteItem(keys.inbound(organizationId, id));
    return;
  }
  log.info("message.received", { organizationId });
  const data = toApiInboundMessage(record);
  await enqueue(eventJob(organizationId, { event: "message.received", timestamp, data }));
}

/** Applies a STOP or START. For an erased number only an opt-out is kept, as with any erasure. */
async function obey(
  { organizationId, from, keyword, receivedAt }: InboundRecord,
  isErased: boolean,
): Promise<void> {
  if ((keyword !== "stop" && keyword !== "start") || !isPhone(from)) return;
  await recordWord(organizationId, from, { word: keyword, saidAt: receivedAt });
  if (isErased) await deleteLifted(organizationId, from);
}
