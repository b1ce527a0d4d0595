import * as z from "zod";

import { takeQuota, usedQuota } from "../accounts/quota.ts";
import type { Campaign, CreateCampaignRequest } from "../contract/campaigns.ts";
import { ApiError, invalidField } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { readCampaignCounts, readCounts } from "../messages/counts.ts";
import { parseSchedule } from "../messages/schedule.ts";
import { now } from "../platform/clock.ts";
import type { Attempt } from "../platform/http/idempotency.ts";
import { newId } from "../platform/ids.ts";
import { maxDelaySeconds, secondsUntil } from "../platform/jobs/queue.ts";
import { keys } from "../platform/table/keys.ts";
import { readPage } from "../platform/table/page.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { usableSenderId } from "../sender-ids/usable.ts";
import { findTemplate } from "../templates/record.ts";
import { problemOf } from "../templates/render.ts";
import { wakeCampaign } from "./campaign-job.ts";
import { cancel, CampaignRecord, create, launch, presentCampaign, readCampaign } from "./record.ts";

const maxCampaigns = 100_000;

/**
 * Creates a campaign: a draft, or with a time a scheduled one. Its text, sender ID and audience stay as they
 * are now; who belongs to the audience is looked up when it is sent.
 * @throws ApiError VALIDATION_ERROR, MISSING_SENDER_ID, CONFLICT when the organisation has as many as it may have
 */
export async function createCampaign(
  organizationId: string,
  request: CreateCampaignRequest,
  attempt?: Attempt,
): Promise<Campaign> {
  const createdAt = now();
  const scheduledAt = parseSchedule(request.scheduledAt, createdAt);
  const record: CampaignRecord = {
    entity: "campaign",
    id: newId("cmp"),
    organizationId,
    name: request.name,
    status: scheduledAt === undefined ? "draft" : "scheduled",
    message: await textOf(organizationId, request),
    templateId: request.templateId,
    audience: request.audience,
    senderId: await usableSenderId(organizationId, request.senderId),
    language: request.language,
    messageType: request.messageType,
    createdAt: createdAt.toISOString(),
    scheduledAt,
    dueAt: scheduledAt,
    position: "",
    lastMessageIds: [],
    accepted: 0,
    chargedMicros: 0,
    skippedOptedOut: 0,
    skippedUnrenderable: 0,
    skippedUnknown: 0,
  };
  const campaign = presentCampaign(record, undefined);
  const created = await transact([
    takeQuota(organizationId, "campaignCount", maxCampaigns),
    ...create(record),
    ...(attempt === undefined ? [] : [attempt.complete(campaign)]),
  ]);
  if (created.outcome === "refused") {
    // Or a later attempt at the same request has taken over, which the idempotency of the request sorts out.
    if (created.refusals[0] === undefined) throw new ApiError("UNAVAILABLE");
    throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxCampaigns} campaigns.` });
  }
  const delaySeconds = secondsUntil(scheduledAt);
  if (scheduledAt !== undefined && delaySeconds <= maxDelaySeconds) {
    await wakeCampaign({ organizationId, campaignId: record.id }, delaySeconds);
  }
  return campaign;
}

async function textOf(organizationId: string, request: CreateCampaignRequest): Promise<string> {
  const { message, templateId } = request;
  if (message !== undefined) {
    const problem = problemOf(message);
    if (problem !== undefined) throw invalidField("message", problem);
    return message;
  }
  const template = templateId === undefined ? undefined : await findTemplate(organizationId, templateId);
  if (template === undefined) throw invalidField("templateId", "there is no such template");
  return template.body;
}

/**
 * One campaign and how far it has come.
 * @throws ApiError NOT_FOUND, also for a campaign of another organisation
 */
export async function getCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  const [record, counts] = await Promise.all([
    readCampaign(organizationId, campaignId),
    readCampaignCounts(organizationId, campaignId),
  ]);
  return presentCampaign(record, counts);
}

/** A page of the organisation's campaigns, newest first. */
export async function listCampaigns(organizationId: string, query: PageQuery): Promise<Page<Campaign>> {
  const { rows, meta } = await readPage(
    CampaignRecord.extend({ sk: z.string() }),
    { pk: keys.campaign(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    await usedQuota(organizationId, "campaignCount"),
  );
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (newest === undefined || oldest === undefined) return { rows: [], meta };
  const counts = await readCounts({
    from: keys.campaignCounts(organizationId, oldest.id),
    to: keys.campaignCounts(organizationId, newest.id),
    limit: rows.length,
  });
  return {
    rows: rows.map((row) =>
      presentCampaign(
        row,
        counts.find(({ sk }) => sk.endsWith(row.id)),
      ),
    ),
    meta,
  };
}

/**
 * Begins to send a draft, or goes on with a campaign that failed for want of money. Launching one that is being
 * sent already changes nothing.
 * @throws ApiError NOT_FOUND, CONFLICT in every other state
 */
export async function launchCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  await change(organizationId, campaignId, {
    to: "sending",
    from: ["draft", "failed"],
    writes: (record) => launch(record, now()),
    refusal: "Only a draft, or a campaign that failed, can be launched.",
  });
  await wakeCampaign({ organizationId, campaignId });
  return getCampaign(organizationId, campaignId);
}

/**
 * Cancels a campaign that is not completed. Messages that have been accepted go their way; no more are.
 * Cancelling it again changes nothing.
 * @throws ApiError NOT_FOUND, CONFLICT when it is completed
 */
export async function cancelCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  await change(organizationId, campaignId, {
    to: "cancelled",
    from: ["draft", "scheduled", "sending", "failed"],
    writes: (record) => cancel(record, now()),
    refusal: "The campaign is completed.",
  });
  return getCampaign(organizationId, campaignId);
}

interface Change {
  readonly to: CampaignRecord["status"];
  readonly from: readonly CampaignRecord["status"][];
  readonly writes: (record: CampaignRecord) => Write[];
  /** What the caller reads when the campaign is in a state that the change does not start from. */
  readonly refusal: string;
}

async function change(organizationId: string, campaignId: string, wanted: Change): Promise<void> {
  await untilUndisturbed(async () => {
    const record = await readCampaign(organizationId, campaignId);
    if (record.status === wanted.to) return wanted.to;
    if (!wanted.from.includes(record.status)) throw new ApiError("CONFLICT", { message: wanted.refusal });
    const { outcome } = await transact(wanted.writes(record));
    return outcome === "committed" ? wanted.to : undefined;
  });
}
