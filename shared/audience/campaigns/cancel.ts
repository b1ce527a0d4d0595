import type { Campaign } from "../../api/contract/campaigns.ts";
import { now } from "../../platform/clock.ts";
import { changeState } from "./change-state.ts";
import { getCampaign } from "./read.ts";
import { cancel } from "./record.ts";

/**
 * Cancels a campaign that is not completed. It accepts no further messages; those already accepted are still sent. A
 * repeated call changes nothing.
 * @throws ApiError NOT_FOUND, CONFLICT when it is completed
 */
export async function cancelCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  await changeState(organizationId, campaignId, {
    to: "cancelled",
    from: ["draft", "scheduled", "sending", "paused", "failed"],
    writes: (record) => cancel(record, now()),
    rejection: "The campaign is completed.",
  });
  return getCampaign(organizationId, campaignId);
}
