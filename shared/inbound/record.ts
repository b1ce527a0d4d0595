import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { Keyword, type InboundMessage } from "../contract/inbound.ts";
import { dayMs, epochSeconds, now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import type { Write } from "../platform/table/table.ts";

/** A message that someone has sent to a number of an organization. */
export const InboundRecord = z.object({
  entity: z.literal("inboundMessage"),
  id: z.string(),
  organizationId: z.string(),
  from: z.string(),
  to: z.string(),
  message: z.string(),
  keyword: z.optional(Keyword),
  receivedAt: z.string(),
  /** When the table forgets it, in seconds since the epoch, if the stage keeps messages for a time only. */
  expiresAt: z.optional(z.int()),
});
export type InboundRecord = z.infer<typeof InboundRecord>;

/** That a message of a carrier's has been taken, so that it is recognized when the carrier brings it again. */
export const TakenRecord = z.object({
  entity: z.literal("inboundTaken"),
  inboundId: z.string(),
  /** Of the report that brought it. */
  reportId: z.string(),
  expiresAt: z.int(),
});

/** How long a carrier's id of a message is known. */
const takenMs = 30 * dayMs;

/** The sort keys of inbound messages, as apart from those that recognize them. */
export const inboundIds = { from: "inb_", to: "inb_~" };

/** What recognizes a message by the id that its carrier has given it. */
export function takenKey(organizationId: string, carrier: string, carrierId: string): Key {
  const hash = createHash("sha256").update(`${carrier} ${carrierId}`).digest("hex");
  return { pk: keys.inbound(organizationId, "").pk, sk: `TAKEN#${hash}` };
}

/** The writes that keep a message and take it as one of its carrier's; rejected when it has been taken. */
export function inboundPuts(
  record: InboundRecord,
  { key, reportId }: { readonly key: Key; readonly reportId: string },
): Record<"message" | "taken", Write> {
  const at = now().getTime();
  const days = config.messageRetentionDays();
  const condition = "attribute_not_exists(pk)";
  const kept =
    days === undefined ? record : { ...record, expiresAt: epochSeconds(new Date(at + days * dayMs)) };
  const taken: z.infer<typeof TakenRecord> = {
    entity: "inboundTaken",
    inboundId: record.id,
    reportId,
    expiresAt: epochSeconds(new Date(at + takenMs)),
  };
  return {
    taken: { put: { ...key, ...taken }, condition },
    message: { put: { ...keys.inbound(record.organizationId, record.id), ...kept }, condition },
  };
}

/** An inbound message as its organization sees it. */
export function presentInbound(record: InboundRecord): InboundMessage {
  const { id, from, to, message, keyword, receivedAt } = record;
  return { id, from, to, message, keyword, receivedAt };
}
