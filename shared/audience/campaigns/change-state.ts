import { ApiError } from "../../api/contract/errors.ts";
import { stepOf, transact, untilUndisturbed, type Step } from "../../platform/table/transact.ts";
import type { Write } from "../../platform/table/write.ts";
import { readCampaign, statusOf, type CampaignRecord } from "./record.ts";

export interface Change {
  readonly to: CampaignRecord["status"];
  readonly from: readonly CampaignRecord["status"][];
  /** Throws when the change is not allowed for another reason than the state. */
  readonly check?: (record: CampaignRecord) => Promise<void>;
  readonly writes: (record: CampaignRecord) => Write[];
  /** The error message for a campaign in a state that the change does not start from. */
  readonly rejection: string;
}

/**
 * Changes the state of a campaign for a customer. A campaign that is already in this state stays unchanged.
 * @throws ApiError NOT_FOUND; CONFLICT in a state that the change does not start from; UNAVAILABLE when concurrent
 *   changes repeatedly interfere
 */
export async function changeState(organizationId: string, campaignId: string, wanted: Change): Promise<void> {
  await untilUndisturbed(async (): Promise<Step> => {
    const record = await readCampaign(organizationId, campaignId);
    const status = statusOf(record);
    if (status === wanted.to) return "applied";
    if (!wanted.from.includes(status)) throw new ApiError("CONFLICT", { message: wanted.rejection });
    await wanted.check?.(record);
    const { outcome } = await transact({ campaign: wanted.writes(record) });
    return stepOf(outcome === "committed");
  });
}
