import type { Campaign, CreateCampaignRequest } from "../../api/contract/campaigns.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { checkSender } from "../../messages/accept/policies.ts";
import { parseSchedule } from "../../messages/message/schedule.ts";
import { senderOf } from "../../messages/sender-ids/usable.ts";
import { now } from "../../platform/clock.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { newId } from "../../platform/ids.ts";
import { maxDelaySeconds, secondsUntil } from "../../platform/jobs/job.ts";
import { transact } from "../../platform/table/transact.ts";
import { takeQuota } from "../../tenancy/organizations/quota.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { create, noneSkipped, toApiCampaign, type CampaignRecord } from "./record.ts";
import { requestFirstRun } from "./request-run.ts";
import { textOf } from "./text.ts";

const maxCampaigns = 100_000;

/**
 * Creates a campaign: a draft, or with a time a scheduled one, which the policies must allow. Once it is launched or
 * scheduled, its text, sender and audience are fixed. The contacts of the audience are read when it is sent.
 * @throws ApiError VALIDATION_ERROR, MISSING_SENDER_ID, the rejections of the policies (`checkSender`), CONFLICT at the
 *   limit of campaigns
 */
export async function createCampaign(
  organization: OrganizationRecord,
  request: CreateCampaignRequest,
  attempt?: Attempt,
): Promise<Campaign> {
  const { id: organizationId } = organization;
  const createdAt = now();
  const scheduledAt = parseSchedule(request.scheduledAt, createdAt);
  const message = await textOf(organizationId, request);
  const sender = senderOf(organization, request);
  // A draft sends nothing; its launch checks the policies.
  if (scheduledAt !== undefined) await checkSender({ organizationId, ...sender });
  const record: CampaignRecord = {
    entity: "campaign",
    id: newId("cmp"),
    organizationId,
    name: request.name,
    status: scheduledAt === undefined ? "draft" : "scheduled",
    message,
    templateId: request.templateId,
    audience: request.audience,
    ...sender,
    language: request.language,
    messageType: request.messageType,
    expiresInSeconds: request.expiresInSeconds,
    version: 1,
    createdAt: createdAt.toISOString(),
    scheduledAt,
    position: "",
    lastMessageIds: [],
    accepted: 0,
    chargedMicros: 0,
    ...noneSkipped,
  };
  const campaign = toApiCampaign(record, undefined);
  const created = await transact({
    quota: takeQuota(organizationId, "campaignCount", maxCampaigns),
    campaign: create(record),
    attempt: attempt === undefined ? [] : attempt.complete(campaign),
  });
  if (created.outcome === "rejected") {
    // Otherwise a later attempt of the same request took over. The idempotency of the request handles that.
    if (created.rejections.quota === undefined) throw new ApiError("UNAVAILABLE");
    throw new ApiError("CONFLICT", { message: `An organization has at most ${maxCampaigns} campaigns.` });
  }
  const delaySeconds = secondsUntil(scheduledAt);
  if (scheduledAt !== undefined && delaySeconds <= maxDelaySeconds) {
    await requestFirstRun({ organizationId, campaignId: record.id }, delaySeconds);
  }
  return campaign;
}
