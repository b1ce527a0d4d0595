import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { Keyword, type InboundMessage } from "../../api/contract/inbound.ts";
import { dayMs, epochSeconds, now } from "../../platform/clock.ts";
import { testMarkOf } from "../../platform/ids.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { insertOf, type Write } from "../../platform/table/write.ts";

/** A message from a phone to a number of an organization. */
export const InboundRecord = z.object({
  entity: z.literal("inboundMessage"),
  id: z.string(),
  organizationId: z.string(),
  from: z.string(),
  to: z.string(),
  message: z.string(),
  keyword: z.optional(Keyword),
  receivedAt: z.string(),
  /** When it expires, in seconds since the epoch, if the stage limits the retention of messages. */
  expiresAt: z.optional(z.int()),
});
export type InboundRecord = z.infer<typeof InboundRecord>;

/** The mark of a stored message, by which a repetition from the carrier is recognized. */
export const TakenRecord = z.object({
  entity: z.literal("inboundTaken"),
  inboundId: z.string(),
  /** The id of the callback that brought it. */
  callbackId: z.string(),
  expiresAt: z.int(),
});

/** How long a repetition is recognized. */
const takenMs = 30 * dayMs;

/** The range of the sort keys of inbound messages, without those of their marks. */
export const inboundIds = { from: "inb_", to: "inb_~" };

/** Returns the key of the mark for a carrier's own id of a message. A carrier may use an id again for another sender. */
export function takenKey(
  organizationId: string,
  { carrier, carrierId, from }: Record<"carrier" | "carrierId" | "from", string>,
): Key<"inboundMark"> {
  const hash = createHash("sha256").update(`${carrier} ${from} ${carrierId}`).digest("hex");
  return { pk: keys.inbound(organizationId, "").pk, sk: `TAKEN#${hash}` };
}

/** Returns the writes that store a message and its mark. They are rejected when the mark exists. */
export function inboundPuts(
  record: InboundRecord,
  { key, callbackId }: { readonly key: Key<"inboundMark">; readonly callbackId: string },
): Record<"message" | "taken", Write> {
  const taken: z.infer<typeof TakenRecord> = {
    entity: "inboundTaken",
    inboundId: record.id,
    callbackId,
    expiresAt: epochSeconds(new Date(now().getTime() + takenMs)),
  };
  return {
    taken: insertOf(key, taken),
    message: insertOf(keys.inbound(record.organizationId, record.id), record),
  };
}

/** Returns an inbound message as its organization sees it. */
export function toApiInboundMessage(record: InboundRecord): InboundMessage {
  const { id, from, to, message, keyword, receivedAt } = record;
  return { id, from, to, message, keyword, receivedAt, ...testMarkOf(id) };
}
