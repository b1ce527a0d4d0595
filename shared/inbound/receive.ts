import { PhoneNumber } from "../contract/phone-numbers.ts";
import { eventJob } from "../events/event-job.ts";
import { addresseesOf, findNumber } from "../numbers/record.ts";
import { hearWord } from "../opt-outs/opt-outs.ts";
import { newId } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact } from "../platform/table/table.ts";
import { inboundPuts, InboundRecord, presentInbound, TakenRecord, takenKey } from "./record.ts";

/** A message that a carrier brings from a phone. */
export interface Reply {
  /** Of the carrier's call that brought it. */
  readonly reportId: string;
  readonly carrier: string;
  /** The carrier's own id of it. */
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly message: string;
  /** ISO 8601. */
  readonly receivedAt: string;
}

/**
 * Keeps a message for those whose number it came to, does what it says if it is STOP or START, and tells them. One that
 * the carrier brings again is kept and obeyed once.
 * @throws Error when it has to come again
 */
export async function receiveReply(reply: Reply): Promise<void> {
  const addressees = addresseesOf(await findNumber(reply.to), reply.message);
  if (addressees.length === 0) {
    log.warn("reply.for_nobody");
    return;
  }
  const { from, to, message, receivedAt } = reply;
  for (const { organizationId, keyword } of addressees) {
    const record = { from, to, message, keyword, receivedAt, organizationId };
    const kept = await keep({ entity: "inboundMessage", id: newId("inb"), ...record }, reply);
    if (kept !== undefined) await conclude(kept);
  }
}

/** @returns what is kept of it; undefined when the carrier has brought it before */
async function keep(
  record: InboundRecord,
  { reportId, carrier, carrierId }: Reply,
): Promise<InboundRecord | undefined> {
  const { organizationId } = record;
  const key = takenKey(organizationId, carrier, carrierId);
  const written = await transact(inboundPuts(record, { key, reportId }));
  if (written.outcome === "committed") return record;
  const taken = TakenRecord.parse(written.refusals[0]?.found);
  // An earlier worker may have ended between keeping it and what follows from it.
  if (taken.reportId !== reportId) return undefined;
  return findItem(InboundRecord, keys.inbound(organizationId, taken.inboundId), { consistent: true });
}

/** What follows from a message that is kept. Doing it again repeats the same event. */
async function conclude(record: InboundRecord): Promise<void> {
  const { organizationId, from, keyword, receivedAt: timestamp } = record;
  // Whoever writes from a name or a short code gets no messages there.
  if (PhoneNumber.safeParse(from).success) {
    if (keyword === "stop" || keyword === "start") {
      await hearWord(organizationId, from, { word: keyword, saidAt: record.receivedAt });
    }
  }
  log.info("message.received", { organizationId });
  const data = presentInbound(record);
  await enqueue(eventJob(organizationId, { event: "message.received", timestamp, data }));
}
