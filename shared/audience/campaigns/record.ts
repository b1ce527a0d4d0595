import * as z from "zod/mini";

import {
  CampaignErrorCode,
  CampaignStatus,
  type Audience,
  type Campaign,
} from "../../api/contract/campaigns.ts";
import { orNotFound } from "../../api/contract/errors.ts";
import type { WebhookEvent } from "../../api/contract/events.ts";
import { Language, MessageType } from "../../api/contract/sms.ts";
import { receiptsOf, type CountsRecord } from "../../messages/counts/counts.ts";
import { emptyTally } from "../../messages/counts/figures.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { config } from "../../platform/config.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import {
  acquireLease,
  leaseFields,
  releaseLease,
  whileLeasedBy,
  type Lease,
} from "../../platform/table/lease.ts";
import { findItem } from "../../platform/table/read.ts";
import { atVersion, versionField } from "../../platform/table/version.ts";
import { insertOf, type Update, updateOf, type Write } from "../../platform/table/write.ts";
import { scheduledRun } from "./campaign-job.ts";

const skippedCount = z._default(z.int().check(z.nonnegative()), 0);

/** The contacts of the audience that got no message, counted by the reason. */
const skippedFields = {
  skippedOptedOut: skippedCount,
  skippedUnrenderable: skippedCount,
  skippedUnknown: skippedCount,
  skippedDestinationNotAllowed: skippedCount,
  skippedDestinationNotPriced: skippedCount,
  skippedRecipientRateExceeded: skippedCount,
  skippedSenderNotAllowed: skippedCount,
};
export const noneSkipped = z.object(skippedFields).parse({});
export type Skipped = typeof noneSkipped;

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
  from: z.optional(z.string()),
  language: Language,
  messageType: MessageType,
  /** The time in which each message must be submitted to a carrier. By default it is that of any message. */
  expiresInSeconds: z.optional(z.int().check(z.positive())),
  version: versionField,
  createdAt: z.string(),
  scheduledAt: z.optional(z.string()),
  startedAt: z.optional(z.string()),
  /** When it was last resumed after a pause or a failure. */
  resumedAt: z.optional(z.string()),
  /** When the last contact of the audience was processed. Some messages may still be in progress. */
  acceptedAllAt: z.optional(z.string()),
  endedAt: z.optional(z.string()),
  /** The progress through the audience: the last contact that was processed, or the number of `contactIds`. */
  position: z.string(),
  /** The messages of the last block. A worker that died may not have queued them. */
  lastMessageIds: z.array(z.string()),
  accepted: z.int().check(z.nonnegative()),
  chargedMicros: z.int().check(z.nonnegative()),
  ...skippedFields,
  /** The lease of the worker that runs it. Deferred while it waits for its last messages or for the next day. */
  ...leaseFields,
  /** The start of the next day, while the wallet's daily cap stops the campaign. */
  waitsUntil: z.optional(z.string()),
});
export type CampaignRecord = z.infer<typeof CampaignRecord>;

/**
 * Returns the status that customers see. A paused campaign is stored as one that failed without an error code. Release 0.3.0
 * cannot read another status, and does not send a campaign that failed.
 */
export function statusOf({ status, errorCode }: CampaignRecord): Campaign["status"] {
  return status === "failed" && errorCode === undefined ? "paused" : status;
}

export function toApiCampaign(record: CampaignRecord, counts: CountsRecord | undefined): Campaign {
  const tally = counts ?? emptyTally;
  const { sent, failed } = tally;
  return {
    id: record.id,
    name: record.name,
    status: statusOf(record),
    errorCode: record.errorCode,
    message: record.message,
    templateId: record.templateId,
    audience: record.audience,
    senderId: record.senderId,
    from: record.from,
    language: record.language,
    messageType: record.messageType,
    expiresInSeconds: record.expiresInSeconds,
    progress: {
      accepted: record.accepted,
      queued: Math.max(0, record.accepted - sent - failed),
      sent,
      failed,
      ...receiptsOf(tally),
      skipped: {
        optedOut: record.skippedOptedOut,
        unrenderable: record.skippedUnrenderable,
        unknown: record.skippedUnknown,
        destinationNotAllowed: record.skippedDestinationNotAllowed || undefined,
        destinationNotPriced: record.skippedDestinationNotPriced || undefined,
        recipientRateExceeded: record.skippedRecipientRateExceeded || undefined,
        senderNotAllowed: record.skippedSenderNotAllowed || undefined,
      },
      charged: amountOf(record.chargedMicros),
      currency: config.currency(),
    },
    version: record.version,
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
  const { accepted, sent, failed, charged } = toApiCampaign(record, counts).progress;
  return {
    event: "campaign.completed",
    timestamp: at.toISOString(),
    data: { id, name, accepted, sent, failed, charged, currency: config.currency() },
  };
}

/**
 * Returns one campaign.
 * @throws ApiError NOT_FOUND, also for a campaign of another organization
 */
export async function readCampaign(organizationId: string, campaignId: string): Promise<CampaignRecord> {
  return orNotFound(await findCampaign(organizationId, campaignId));
}

/** Returns one campaign; undefined when there is none. */
export async function findCampaign(
  organizationId: string,
  campaignId: string,
): Promise<CampaignRecord | undefined> {
  return findItem(CampaignRecord, keys.campaign(organizationId, campaignId), { consistent: true });
}

function keyOf({ organizationId, id }: CampaignRecord): Key<"campaign"> {
  return keys.campaign(organizationId, id);
}

/*
 * The transitions of a campaign. The condition of each is the state that it starts from. A transition that makes the
 * campaign due schedules a job in the same transaction, so that it runs even if its queue loses a job.
 */

const isSending = { is: { status: "sending" } } as const;

/** nothing → draft, or scheduled when it has a time. */
export function create(record: CampaignRecord): Write[] {
  const { organizationId, id, scheduledAt } = record;
  return [
    insertOf(keyOf(record), record),
    ...(scheduledAt === undefined ? [] : [scheduledRun({ organizationId, campaignId: id }, scheduledAt)]),
  ];
}

/** draft, paused or failed → sending, with the text and the audience that were checked. */
export function launch(record: CampaignRecord, at: Date): Write[] {
  const { organizationId, id, status, startedAt } = record;
  const time = at.toISOString();
  const set = startedAt === undefined ? { startedAt: time } : { resumedAt: time };
  return [
    updateOf(
      keyOf(record),
      { set: { status: "sending", ...set }, remove: ["errorCode", "endedAt"] },
      { is: { status }, ...atVersion(record.version) },
    ),
    scheduledRun({ organizationId, campaignId: id }),
  ];
}

/** draft, scheduled, sending, paused or failed → cancelled. */
export function cancel(record: CampaignRecord, at: Date): Write[] {
  const set = { status: "cancelled", endedAt: at.toISOString() } as const;
  const changes = { set, remove: ["errorCode", "waitsUntil"] } as const;
  return [updateOf(keyOf(record), changes, { is: { status: record.status } })];
}

/**
 * sending, with contacts left → paused. A run that has the lease can record no further block, and releases the lease. Without
 * such a run, no wait is left for the time after the pause.
 */
export function pause(record: CampaignRecord): Write[] {
  const { status, leaseToken } = record;
  const set = { status: "failed" } as const;
  return [
    leaseToken === undefined
      ? updateOf(
          keyOf(record),
          { set, remove: ["waitsUntil", "leaseUntil"] },
          { is: { status }, absent: ["acceptedAllAt", "leaseToken"] },
        )
      : updateOf(keyOf(record), { set }, { is: { status, leaseToken }, absent: ["acceptedAllAt"] }),
  ];
}

/** scheduled and due, or sending, and free → sending, leased. */
export function startRun(record: CampaignRecord, lease: Lease, at: Date): Update<"campaign"> {
  const { status, startedAt = at.toISOString() } = record;
  return acquireLease(keyOf(record), lease, at, {
    set: { status: "sending", startedAt },
    remove: ["waitsUntil"],
    requires: {
      is: { status },
      ifPresent: { atMost: { scheduledAt: at.toISOString() } },
    },
  });
}

/** The progress that one block of contacts adds. */
export interface Block {
  /** The position after the last contact of the block. */
  readonly position: string;
  readonly messageIds: readonly string[];
  readonly chargedMicros: number;
  readonly skipped: Partial<Skipped>;
}

/** leased → leased, after a block of contacts. Part of the transaction that records the block's messages. */
export function passBlock(leased: CampaignRecord, block: Block): Update<"campaign"> {
  return updateOf(
    keyOf(leased),
    {
      set: { position: block.position, lastMessageIds: block.messageIds },
      add: { accepted: block.messageIds.length, chargedMicros: block.chargedMicros, ...block.skipped },
    },
    whileLeasedBy(leased, { is: { status: "sending", position: leased.position } }),
  );
}

/** leased → leased, with no contact left. */
export function acceptedAll(leased: CampaignRecord, at: Date): Update<"campaign"> {
  return updateOf(
    keyOf(leased),
    { set: { acceptedAllAt: at.toISOString() } },
    whileLeasedBy(leased, isSending),
  );
}

/** leased → sending and free. @param until defers the next run until then */
export function releaseRun(leased: CampaignRecord, until?: Date): Update<"campaign"> {
  return releaseLease(keyOf(leased), leased, { until });
}

/** leased → sending and free, waiting for the next day. @param until defers the next run until then */
export function waitForNextDay(leased: CampaignRecord, nextDay: Date, until: Date): Update<"campaign"> {
  const set = { waitsUntil: nextDay.toISOString() };
  return releaseLease(keyOf(leased), leased, { until, set, requires: isSending });
}

/** leased → completed. */
export function complete(leased: CampaignRecord, at: Date): Update<"campaign"> {
  return end(leased, { status: "completed", endedAt: at.toISOString() });
}

/** leased → failed; it can be launched again. */
export function fail(leased: CampaignRecord, at: Date, errorCode: CampaignErrorCode): Update<"campaign"> {
  return end(leased, { status: "failed", endedAt: at.toISOString(), errorCode });
}

function end(
  leased: CampaignRecord,
  set: Pick<CampaignRecord, "endedAt" | "errorCode" | "status">,
): Update<"campaign"> {
  return releaseLease(keyOf(leased), leased, { set, requires: isSending });
}
