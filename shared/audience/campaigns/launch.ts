import type { Campaign } from "../../api/contract/campaigns.ts";
import { checkSender } from "../../messages/accept/policies.ts";
import { now } from "../../platform/clock.ts";
import { changeState } from "./change-state.ts";
import { getCampaign } from "./read.ts";
import { launch } from "./record.ts";
import { requestFirstRun } from "./request-run.ts";

/**
 * Begins to send a draft, or continues a campaign that failed. Launching a campaign that is already being sent changes
 * nothing.
 * @throws ApiError NOT_FOUND, CONFLICT in every other state, the rejections of the policies (`checkSender`)
 */
export async function launchCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  await changeState(organizationId, campaignId, {
    to: "sending",
    from: ["draft", "failed"],
    check: checkSender,
    writes: (record) => launch(record, now()),
    rejection: "Only a draft, or a campaign that failed, can be launched.",
  });
  await requestFirstRun({ organizationId, campaignId });
  return getCampaign(organizationId, campaignId);
}
