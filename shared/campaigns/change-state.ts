import { ApiError } from "../contract/errors.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { readCampaign, type CampaignRecord } from "./record.ts";

interface Change {
  readonly to: CampaignRecord["status"];
  readonly from: readonly CampaignRecord["status"][];
  /** Throws when the change is not allowed for another reason than the state. */
  readonly check?: (record: CampaignRecord) => Promise<void>;
  readonly writes: (record: CampaignRecord) => Write[];
  /** What the caller reads when the campaign is in a state that the change does not start from. */
  readonly refusal: string;
}

/**
 * Brings a campaign into another state, at a customer's wish. In that state already, nothing changes.
 * @throws ApiError NOT_FOUND; CONFLICT in a state that the change does not start from; UNAVAILABLE when its state
 *   changes under its hands again and again
 */
export async function changeState(organizationId: string, campaignId: string, wanted: Change): Promise<void> {
  await untilUndisturbed(async () => {
    const record = await readCampaign(organizationId, campaignId);
    if (record.status === wanted.to) return wanted.to;
    if (!wanted.from.includes(record.status)) throw new ApiError("CONFLICT", { message: wanted.refusal });
    await wanted.check?.(record);
    const { outcome } = await transact(wanted.writes(record));
    return outcome === "committed" ? wanted.to : undefined;
  });
}
