import type { Campaign } from "../../api/contract/campaigns.ts";
import { checkSender } from "../../messages/accept/policies.ts";
import { now } from "../../platform/clock.ts";
import { requireVersion } from "../../platform/table/version.ts";
import { requireRecipients } from "./audience.ts";
import { changeState, type Change } from "./change-state.ts";
import { getCampaign } from "./read.ts";
import { launch, type CampaignRecord } from "./record.ts";
import { requestFirstRun } from "./request-run.ts";

/**
 * Begins to send a draft, or continues a campaign that failed. Launching a campaign that is already being sent changes
 * nothing.
 * @param version the version of the draft that the caller saw, if they named one
 * @throws ApiError NOT_FOUND, CONFLICT in every other state and for another version, NO_RECIPIENTS, the rejections of the
 *   policies (`checkSender`)
 */
export async function launchCampaign(
  organizationId: string,
  campaignId: string,
  version?: number,
): Promise<Campaign> {
  const rejection = "Only a draft, or a campaign that failed, can be launched.";
  const check = async (campaign: CampaignRecord): Promise<void> => {
    requireVersion(version, campaign.version);
    await checkSender(campaign);
    await requireRecipients(campaign);
  };
  return send(organizationId, campaignId, { from: ["draft", "failed"], rejection, check });
}

/** Continues a paused campaign, with the same rejections. Resuming a campaign that is being sent changes nothing. */
export async function resumeCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  const rejection = "Only a paused campaign can be resumed.";
  return send(organizationId, campaignId, { from: ["paused"], rejection, check: checkSender });
}

async function send(
  organizationId: string,
  campaignId: string,
  change: Pick<Change, "check" | "from" | "rejection">,
): Promise<Campaign> {
  await changeState(organizationId, campaignId, {
    to: "sending",
    writes: (record) => launch(record, now()),
    ...change,
  });
  await requestFirstRun({ organizationId, campaignId });
  return getCampaign(organizationId, campaignId);
}
