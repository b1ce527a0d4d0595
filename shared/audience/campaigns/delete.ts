import { ApiError } from "../../api/contract/errors.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { deleteOf } from "../../platform/table/write.ts";
import { releaseQuota } from "../../tenancy/organizations/quota.ts";
import { readCampaign } from "./record.ts";

/**
 * Deletes a draft, which has neither messages nor jobs.
 * @throws ApiError NOT_FOUND, also once it is deleted; CONFLICT in every other state; UNAVAILABLE when other changes
 *   repeatedly interfere
 */
export async function deleteCampaign(
  organizationId: string,
  campaignId: string,
): Promise<{ id: string; deleted: true }> {
  return untilUndisturbed(async () => {
    const { status } = await readCampaign(organizationId, campaignId);
    if (status !== "draft") throw new ApiError("CONFLICT", { message: "Only a draft can be deleted." });
    const { outcome } = await transact({
      campaign: deleteOf(keys.campaign(organizationId, campaignId), { is: { status } }),
      quota: releaseQuota(organizationId, "campaignCount"),
    });
    return outcome === "committed" ? { id: campaignId, deleted: true } : undefined;
  });
}
