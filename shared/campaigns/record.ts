import * as z from "zod";

import { CampaignErrorCode, CampaignStatus, type Audience, type Campaign } from "../contract/campaigns.ts";
import { Language, MessageType } from "../contract/sms.ts";
import type { CountsRecord } from "../messages/counts.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import type { Update, Write } from "../platform/table/table.ts";
import { amountOf, currency } from "../wallet/money.ts";

export const CampaignRecord = z.object({
  entity: z.literal("campaign"),
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  status: CampaignStatus,
  errorCode: CampaignErrorCode.optional(),
  message: z.string(),
  templateId: z.string().optional(),
  audience: z.object({
    contactIds: z.array(z.string()).optional(),
    tags: z.array(z.string()).optional(),
    all: z.literal(true).optional(),
  }) satisfies z.ZodType<Audience>,
  senderId: z.string(),
  language: Language,
  messageType: MessageType,
  createdAt: z.string(),
  scheduledAt: z.string().optional(),
  /** While it waits for its time or is being sent: since when it is due. Names its item among the due ones. */
  dueAt: z.string().optional(),
  startedAt: z.string().optional(),
  /** When the last contact of the audience had its turn; some messages may still be on their way. */
  acceptedAllAt: z.string().optional(),
  endedAt: z.string().optional(),
  /** How far through the audience it has come: the last contact, or the number of `contactIds`, that had its turn. */
  position: z.string(),
  /** The messages of the last block, which a worker that died may not have queued. */
  lastMessageIds: z.array(z.string()),
  accepted: z.int().nonnegative(),
  chargedMicros: z.int().nonnegative(),
  skippedOptedOut: z.int().nonnegative(),
  skippedUnrenderable: z.int().nonnegative(),
  skippedUnknown: z.int().nonnegative(),
  /** While a worker has it: whose run it is. */
  runToken: z.string().optional(),
  /** Until then no other run takes it up: a worker has it, or it waits for its last messages. */
  runUntil: z.string().optional(),
  lastRunAt: z.string().optional(),
});
export type CampaignRecord = z.infer<typeof CampaignRecord>;

export function presentCampaign(record: CampaignRecord, counts: CountsRecord | undefined): Campaign {
  const { sent = 0, failed = 0 } = counts ?? {};
  return {
    id: record.id,
    name: record.name,
    status: record.status,
    errorCode: record.errorCode,
    message: record.message,
    templateId: record.templateId,
    audience: record.audience,
    senderId: record.senderId,
    language: record.language,
    messageType: record.messageType,
    progress: {
      accepted: record.accepted,
      queued: Math.max(0, record.accepted - sent - failed),
      sent,
      failed,
      skipped: {
        optedOut: record.skippedOptedOut,
        unrenderable: record.skippedUnrenderable,
        unknown: record.skippedUnknown,
      },
      charged: amountOf(record.chargedMicros),
      currency,
    },
    createdAt: record.createdAt,
    scheduledAt: record.scheduledAt,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
  };
}

function keyOf({ organizationId, id }: CampaignRecord): Key {
  return keys.campaign(organizationId, id);
}

/*
 * The transitions of a campaign. Each names the state that it starts from as its condition. One that is due,
 * because it waits for its time or is being sent, has an item among the due campaigns from the same
 * transaction on, so that it is found whatever becomes of its jobs.
 */

const names = { "#status": "status" };

function dueItem(record: CampaignRecord, dueAt: string): Write {
  const { organizationId, id } = record;
  return {
    put: {
      ...keys.dueCampaign(dueAt, organizationId, id),
      entity: "dueCampaign",
      dueAt,
      organizationId,
      campaignId: id,
    },
  };
}

function noDueItem(record: CampaignRecord): Write[] {
  const { organizationId, id, dueAt } = record;
  return dueAt === undefined ? [] : [{ delete: keys.dueCampaign(dueAt, organizationId, id) }];
}

/** nothing → draft, or scheduled when it has a time. */
export function create(record: CampaignRecord): Write[] {
  return [
    { put: { ...keyOf(record), ...record }, condition: "attribute_not_exists(pk)" },
    ...(record.dueAt === undefined ? [] : [dueItem(record, record.dueAt)]),
  ];
}

/** draft, or failed → sending. */
export function launch(record: CampaignRecord, at: Date): Write[] {
  const dueAt = at.toISOString();
  return [
    {
      key: keyOf(record),
      update:
        "SET #status = :sending, dueAt = :at, startedAt = :startedAt " +
        "REMOVE errorCode, endedAt, runToken, runUntil, lastRunAt",
      condition: "#status = :status",
      names,
      values: {
        ":sending": "sending",
        ":at": dueAt,
        ":startedAt": record.startedAt ?? dueAt,
        ":status": record.status,
      },
    },
    dueItem(record, dueAt),
  ];
}

/** draft, scheduled, sending or failed → cancelled. */
export function cancel(record: CampaignRecord, at: Date): Write[] {
  // It must still be due since the same moment, or the item that is removed with it would be another launch's.
  const due = record.dueAt === undefined ? "attribute_not_exists(dueAt)" : "dueAt = :dueAt";
  return [
    {
      key: keyOf(record),
      update: "SET #status = :cancelled, endedAt = :at REMOVE dueAt, errorCode",
      condition: `#status = :status AND ${due}`,
      names,
      values: {
        ":cancelled": "cancelled",
        ":at": at.toISOString(),
        ":status": record.status,
        ...(record.dueAt === undefined ? {} : { ":dueAt": record.dueAt }),
      },
    },
    ...noDueItem(record),
  ];
}

/** due, and not held by another run → sending, held by `token` until `until`. */
export function claimRun(record: CampaignRecord, token: string, at: Date, until: Date): Update {
  return {
    key: keyOf(record),
    update:
      "SET #status = :sending, startedAt = :startedAt, runToken = :token, runUntil = :until, lastRunAt = :at",
    condition: "#status = :status AND dueAt <= :at AND (attribute_not_exists(runUntil) OR runUntil <= :at)",
    names,
    values: {
      ":sending": "sending",
      ":startedAt": record.startedAt ?? at.toISOString(),
      ":token": token,
      ":until": until.toISOString(),
      ":at": at.toISOString(),
      ":status": record.status,
    },
  };
}

/** What one block of contacts adds to the progress. */
export interface Block {
  /** Behind the last contact of the block. */
  readonly position: string;
  readonly messageIds: readonly string[];
  readonly chargedMicros: number;
  readonly skippedOptedOut: number;
  readonly skippedUnrenderable: number;
  readonly skippedUnknown: number;
}

/** held → held, behind a block of contacts. Part of the transaction that records the block's messages. */
export function passBlock(held: CampaignRecord, block: Block): Update {
  return {
    key: keyOf(held),
    update:
      "SET #position = :position, lastMessageIds = :messageIds, accepted = accepted + :accepted, " +
      "chargedMicros = chargedMicros + :charged, " +
      "skippedOptedOut = skippedOptedOut + :optedOut, skippedUnknown = skippedUnknown + :unknown, " +
      "skippedUnrenderable = skippedUnrenderable + :unrenderable",
    condition: "#status = :sending AND runToken = :token AND #position = :seen",
    names: { ...names, "#position": "position" },
    values: {
      ":position": block.position,
      ":messageIds": block.messageIds,
      ":accepted": block.messageIds.length,
      ":charged": block.chargedMicros,
      ":optedOut": block.skippedOptedOut,
      ":unknown": block.skippedUnknown,
      ":unrenderable": block.skippedUnrenderable,
      ":sending": "sending",
      ":token": held.runToken,
      ":seen": held.position,
    },
  };
}

/** held → held, with no contact left. */
export function acceptedAll(held: CampaignRecord, at: Date): Update {
  return {
    key: keyOf(held),
    update: "SET acceptedAllAt = :at",
    condition: "#status = :sending AND runToken = :token",
    names,
    values: { ":at": at.toISOString(), ":sending": "sending", ":token": held.runToken },
  };
}

/** held → sending, held by nobody; with a moment, not to be taken up again before it. */
export function releaseRun(held: CampaignRecord, until?: Date): Update {
  return {
    key: keyOf(held),
    update: until === undefined ? "REMOVE runToken, runUntil" : "SET runUntil = :until REMOVE runToken",
    condition: "runToken = :token",
    values: {
      ...(until === undefined ? {} : { ":until": until.toISOString() }),
      ":token": held.runToken,
    },
  };
}

/** held → completed. */
export function complete(held: CampaignRecord, at: Date): Write[] {
  return end(held, "SET #status = :ended, endedAt = :at REMOVE dueAt, runToken, runUntil", {
    ":ended": "completed",
    ":at": at.toISOString(),
  });
}

/** held → failed; it can be launched again. */
export function fail(held: CampaignRecord, at: Date, errorCode: CampaignErrorCode): Write[] {
  return end(
    held,
    "SET #status = :ended, endedAt = :at, errorCode = :errorCode REMOVE dueAt, runToken, runUntil",
    { ":ended": "failed", ":at": at.toISOString(), ":errorCode": errorCode },
  );
}

function end(held: CampaignRecord, update: string, values: Record<string, string>): Write[] {
  return [
    {
      key: keyOf(held),
      update,
      condition: "#status = :sending AND runToken = :token",
      names,
      values: { ...values, ":sending": "sending", ":token": held.runToken },
    },
    ...noDueItem(held),
  ];
}
