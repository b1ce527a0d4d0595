import type { OfMessage } from "../../money/wallet/ledger.ts";
import { countryOfNumber } from "../destinations/numbering-plan.ts";
import type { MessageRecord } from "./record.ts";

/** Returns the fields that the ledger entries of a message have. An erased number has no country. */
export function ledgerFieldsOf({ to, segments, campaignId }: MessageRecord): OfMessage {
  return { country: countryOfNumber(to), segments, campaignId };
}
