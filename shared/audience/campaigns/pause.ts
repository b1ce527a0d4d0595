import type { Campaign } from "../../api/contract/campaigns.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { changeState } from "./change-state.ts";
import { getCampaign } from "./read.ts";
import { pause } from "./record.ts";

/**
 * Pauses a campaign with remaining contacts. The block that a run is recording is rejected and its debit returned, or it was
 * recorded before. A repeated call changes nothing.
 * @throws ApiError NOT_FOUND, CONFLICT in every other state
 */
export async function pauseCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  await changeState(organizationId, campaignId, {
    to: "paused",
    from: ["sending"],
    check: async ({ acceptedAllAt }) => {
      if (acceptedAllAt === undefined) return;
      throw new ApiError("CONFLICT", { message: "All messages of the campaign have been accepted." });
    },
    writes: (record) => pause(record),
    rejection: "Only a campaign that is being sent can be paused.",
  });
  return getCampaign(organizationId, campaignId);
}
