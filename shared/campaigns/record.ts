import * as z from "zod/mini";

import { CampaignErrorCode, CampaignStatus, type Audience, type Campaign } from "../contract/campaigns.ts";
import { ApiError } from "../contract/errors.ts";
import type { WebhookEvent } from "../contract/events.ts";
import { Language, MessageType } from "../contract/sms.ts";
import { shareOf, type CountsRecord } from "../messages/counts.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { findItem, type Update, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { amountOf, currency } from "../wallet/money.ts";

export const CampaignRecord = z.object({
  entity: z.literal("campaign"),
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  status: CampaignStatus,
  errorCode: z.optional(CampaignErrorCode),
  message: z.string(),
  templateId: z.optional(z.string()),
  audience: z.object({
    contactIds: z.optional(z.array(z.string())),
    tags: z.optional(z.array(z.string())),
    all: z.optional(z.literal(true)),
  }) satisfies z.ZodMiniType<Audience>,
  senderId: z.string(),
  language: Language,
  messageType: MessageType,
  /** How long each message may wait to be handed to a carrier; without it for as long as any message. */
  expiresInSeconds: z.optional(z.int().check(z.positive())),
  createdAt: z.string(),
  scheduledAt: z.optional(z.string()),
  /** While it waits for its time or is being sent: since when it is due. Names its item among the due ones. */
  dueAt: z.optional(z.string()),
  startedAt: z.optional(z.string()),
  /** When the last contact of the audience had its turn; some messages may still be on their way. */
  acceptedAllAt: z.optional(z.string()),
  endedAt: z.optional(z.string()),
  /** How far through the audience it has come: the last contact, or the number of `contactIds`, that had its turn. */
  position: z.string(),
  /** The messages of the last block, which a worker that died may not have queued. */
  lastMessageIds: z._default(z.array(z.string()), []),
  accepted: z.int().check(z.nonnegative()),
  chargedMicros: z.int().check(z.nonnegative()),
  skippedOptedOut: z.int().check(z.nonnegative()),
  skippedUnrenderable: z.int().check(z.nonnegative()),
  skippedUnknown: z.int().check(z.nonnegative()),
  skippedDestinationNotAllowed: z._default(z.int().check(z.nonnegative()), 0),
  skippedDestinationNotPriced: z._default(z.int().check(z.nonnegative()), 0),
  skippedRecipientRateExceeded: z._default(z.int().check(z.nonnegative()), 0),
  /** While a worker has it: whose run it is. */
  runToken: z.optional(z.string()),
  /** Until then no other run takes it up: a worker has it, or it waits for its last messages. */
  runUntil: z.optional(z.string()),
  lastRunAt: z.optional(z.string()),
  /** While the wallet's daily cap keeps it from going on: when the next day begins. */
  waitsUntil: z.optional(z.string()),
});
export type CampaignRecord = z.infer<typeof CampaignRecord>;

export function presentCampaign(record: CampaignRecord, counts: CountsRecord | undefined): Campaign {
  const { sent = 0, failed = 0 } = counts ?? {};
  const delivered = Math.max(0, counts?.delivered ?? 0);
  const undelivered = Math.max(0, counts?.undelivered ?? 0);
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
    expiresInSeconds: record.expiresInSeconds,
    progress: {
      accepted: record.accepted,
      queued: Math.max(0, record.accepted - sent - failed),
      sent,
      failed,
      delivered,
      undelivered,
      receiptRate: shareOf(delivered, delivered + undelivered),
      skipped: {
        optedOut: record.skippedOptedOut,
        unrenderable: record.skippedUnrenderable,
        unknown: record.skippedUnknown,
        destinationNotAllowed: record.skippedDestinationNotAllowed || undefined,
        destinationNotPriced: record.skippedDestinationNotPriced || undefined,
        recipientRateExceeded: record.skippedRecipientRateExceeded || undefined,
      },
      charged: amountOf(record.chargedMicros),
      currency,
    },
    createdAt: record.createdAt,
    scheduledAt: record.scheduledAt,
    startedAt: record.startedAt,
    waitsUntil: record.waitsUntil,
    endedAt: record.endedAt,
  };
}

/** The event of a completed campaign. */
export function completedEvent(
  record: CampaignRecord,
  counts: CountsRecord | undefined,
  at: Date,
): WebhookEvent {
  const { id, name } = record;
  const { accepted, sent, failed, charged } = presentCampaign(record, counts).progress;
  return {
    event: "campaign.completed",
    timestamp: at.toISOString(),
    data: { id, name, accepted, sent, failed, charged, currency },
  };
}

/**
 * One campaign as it is now.
 * @throws ApiError NOT_FOUND, also for a campaign of another organisation
 */
export async function readCampaign(organizationId: string, campaignId: string): Promise<CampaignRecord> {
  const record = await findCampaign(organizationId, campaignId);
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return record;
}

/** One campaign as it is now. */
export async function findCampaign(
  organizationId: string,
  campaignId: string,
): Promise<CampaignRecord | undefined> {
  return findItem(CampaignRecord, keys.campaign(organizationId, campaignId), { consistent: true });
}

function keyOf({ organizationId, id }: CampaignRecord): Key {
  return keys.campaign(organizationId, id);
}

/*
 * The transitions of a campaign. Each names the state that it starts from as its condition. One that is due,
 * because it waits for its time or is being sent, has an item among the due campaigns from the same
 * transaction on, so that it is found whatever becomes of its jobs.
 */

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
    updateOf(
      keyOf(record),
      {
        set: { status: "sending", dueAt, startedAt: record.startedAt ?? dueAt },
        remove: ["errorCode", "endedAt", "runToken", "runUntil", "lastRunAt"],
      },
      { is: { status: record.status } },
    ),
    dueItem(record, dueAt),
  ];
}

/** draft, scheduled, sending or failed → cancelled. */
export function cancel(record: CampaignRecord, at: Date): Write[] {
  const { status, dueAt } = record;
  return [
    updateOf(
      keyOf(record),
      {
        set: { status: "cancelled", endedAt: at.toISOString() },
        remove: ["dueAt", "errorCode", "waitsUntil"],
      },
      // It must still be due since the same moment, or the item that is removed with it would be another launch's.
      dueAt === undefined ? { is: { status }, absent: ["dueAt"] } : { is: { status, dueAt } },
    ),
    ...noDueItem(record),
  ];
}

/** due, and not held by another run → sending, held by `token` until `until`. */
export function claimRun(record: CampaignRecord, token: string, at: Date, until: Date): Update {
  return updateOf(
    keyOf(record),
    {
      set: {
        status: "sending",
        startedAt: record.startedAt ?? at.toISOString(),
        runToken: token,
        runUntil: until.toISOString(),
        lastRunAt: at.toISOString(),
      },
      remove: ["waitsUntil"],
    },
    {
      is: { status: record.status },
      where: "dueAt <= :lastRunAt AND (attribute_not_exists(#runUntil) OR #runUntil <= :lastRunAt)",
    },
  );
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
  readonly skippedDestinationNotAllowed: number;
  readonly skippedDestinationNotPriced: number;
  readonly skippedRecipientRateExceeded: number;
}

/** held → held, behind a block of contacts. Part of the transaction that records the block's messages. */
export function passBlock(held: CampaignRecord, block: Block): Update {
  return updateOf(
    keyOf(held),
    {
      set: { position: block.position, lastMessageIds: block.messageIds },
      add: {
        accepted: block.messageIds.length,
        chargedMicros: block.chargedMicros,
        skippedDestinationNotAllowed: block.skippedDestinationNotAllowed,
        skippedDestinationNotPriced: block.skippedDestinationNotPriced,
        skippedOptedOut: block.skippedOptedOut,
        skippedRecipientRateExceeded: block.skippedRecipientRateExceeded,
        skippedUnknown: block.skippedUnknown,
        skippedUnrenderable: block.skippedUnrenderable,
      },
    },
    { is: { ...heldState(held), position: held.position } },
  );
}

/** held → held, with no contact left. */
export function acceptedAll(held: CampaignRecord, at: Date): Update {
  return updateOf(keyOf(held), { set: { acceptedAllAt: at.toISOString() } }, { is: heldState(held) });
}

/** held → sending, held by nobody; with a moment, not to be taken up again before it. */
export function releaseRun(held: CampaignRecord, until?: Date): Update {
  const changes =
    until === undefined
      ? { remove: ["runToken", "runUntil"] }
      : { set: { runUntil: until.toISOString() }, remove: ["runToken"] };
  return updateOf(keyOf(held), changes, { is: { runToken: held.runToken } });
}

/** held → sending, held by nobody and waiting for the next day, but looked at again before. */
export function waitForNextDay(held: CampaignRecord, nextDay: Date, lookAgainAt: Date): Update {
  const set = { runUntil: lookAgainAt.toISOString(), waitsUntil: nextDay.toISOString() };
  return updateOf(keyOf(held), { set, remove: ["runToken"] }, { is: heldState(held) });
}

/** held → completed. */
export function complete(held: CampaignRecord, at: Date): Write[] {
  return end(held, { status: "completed", endedAt: at.toISOString() });
}

/** held → failed; it can be launched again. */
export function fail(held: CampaignRecord, at: Date, errorCode: CampaignErrorCode): Write[] {
  return end(held, { status: "failed", endedAt: at.toISOString(), errorCode });
}

function end(held: CampaignRecord, set: Record<string, string>): Write[] {
  const changes = { set, remove: ["dueAt", "runToken", "runUntil"] };
  return [updateOf(keyOf(held), changes, { is: heldState(held) }), ...noDueItem(held)];
}

function heldState({ runToken }: CampaignRecord): Record<string, unknown> {
  return { status: "sending", runToken };
}
