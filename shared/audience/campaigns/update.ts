import type { Campaign, UpdateCampaignRequest } from "../../api/contract/campaigns.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { senderOf } from "../../messages/sender-ids/usable.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { atVersion, requireVersion } from "../../platform/table/version.ts";
import { changesOfPatch, updateOf } from "../../platform/table/write.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { getCampaign } from "./read.ts";
import { readCampaign } from "./record.ts";
import { textOf } from "./text.ts";

/**
 * Changes the given fields of a draft, and no others.
 * @throws ApiError VALIDATION_ERROR, MISSING_SENDER_ID; NOT_FOUND; CONFLICT once it is launched or scheduled, and for another
 *   version than the given one; UNAVAILABLE when other changes repeatedly interfere
 */
export async function updateCampaign(
  organization: OrganizationRecord,
  campaignId: string,
  request: UpdateCampaignRequest,
): Promise<Campaign> {
  const { id: organizationId } = organization;
  const { version: seen, ...fields } = request;
  const { message, templateId, senderId, from, ...others } = fields;
  const hasChanges = Object.values(fields).some((value) => value !== undefined);
  const changes = changesOfPatch<"campaign">({
    ...others,
    ...((message !== undefined || templateId !== undefined) && {
      message: await textOf(organizationId, request),
      templateId: templateId ?? null,
    }),
    ...((senderId ?? from) !== undefined && { from: null, ...senderOf(organization, request) }),
  });
  return untilUndisturbed(async () => {
    const { status, version } = await readCampaign(organizationId, campaignId);
    if (status !== "draft") throw new ApiError("CONFLICT", { message: "Only a draft can be changed." });
    requireVersion(seen, version);
    const key = keys.campaign(organizationId, campaignId);
    const changed = { ...changes, add: { version: 1 } };
    const requires = { is: { status }, ...atVersion(seen) };
    const isMade =
      !hasChanges || (await transact({ campaign: updateOf(key, changed, requires) })).outcome === "committed";
    return isMade ? getCampaign(organizationId, campaignId) : undefined;
  });
}
