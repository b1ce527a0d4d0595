import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { takeName } from "../../shared/messages/sender-ids/names.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { noteKycApproval } from "../../shared/tenancy/organizations/rights-record.ts";

/** The variables of a stage with all policies, which sends to these countries. */
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

/** Sets up an organization as the operator of such a stage does, with names that others may have too. */
export async function allowToSend(organizationId: string, ...senderIds: readonly string[]): Promise<void> {
  await noteVerifiedEmail(organizationId);
  await transact({
    approval: noteKycApproval(organizationId, new Date().toISOString()),
    names: senderIds.map((senderId) => takeName(organizationId, senderId, true)),
  });
}
