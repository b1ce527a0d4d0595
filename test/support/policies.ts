import { noteKycApproval } from "../../shared/accounts/rights-record.ts";
import { noteVerifiedEmail } from "../../shared/accounts/verification.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { transact } from "../../shared/platform/table/table.ts";
import { takeName } from "../../shared/sender-ids/names.ts";

/** The variables of a stage that asks for all that a stage can ask for, and sends to these countries. */
export function strictPolicies(...countries: readonly string[]): Record<string, string> {
  const { policies } = environmentNames;
  return {
    [policies.senderIds]: "approved",
    [policies.kyc]: "before-sending",
    [policies.verifiedEmail]: "before-sending",
    [policies.countries]: countries.join(" "),
    [policies.numberTypes]: "mobile",
  };
}

/** Does what the operator of such a stage does before an organisation sends, under names that others may have too. */
export async function allowToSend(organizationId: string, ...senderIds: readonly string[]): Promise<void> {
  await noteVerifiedEmail(organizationId);
  await transact([
    noteKycApproval(organizationId, new Date().toISOString()),
    ...senderIds.map((senderId) => takeName(organizationId, senderId, true)),
  ]);
}
