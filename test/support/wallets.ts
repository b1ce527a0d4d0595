import { debitFor, recordDebit } from "../../shared/money/wallet/charge.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { newWallet } from "../../shared/money/wallet/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf, type Write } from "../../shared/platform/table/write.ts";
import { findOrganization, OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";

/** Opens a wallet in the table, without the API, by default for a new organization. @returns the organization's id */
export async function openWallet(balanceMicros: number, organizationId = newId("org")): Promise<string> {
  await transact({ wallet: newWallet(organizationId, new Date()) });
  if (balanceMicros > 0) await postToWallet({ organizationId, type: "top_up", amountMicros: balanceMicros });
  return organizationId;
}

/** Opens a wallet for a new organization, which has its record too. @returns the organization's id */
export async function openOrganization(
  balanceMicros: number,
  fields: Partial<OrganizationRecord> = {},
): Promise<string> {
  const id = await openWallet(balanceMicros);
  await putOrganization(id, fields);
  return id;
}

/** Writes the record of an organization. */
export async function putOrganization(id: string, fields: Partial<OrganizationRecord> = {}): Promise<void> {
  const record = { entity: "organization", id, name: "ACME", createdAt: new Date().toISOString(), ...fields };
  await putItem(putOf(keys.organization(id), OrganizationRecord.parse(record)));
}

/** Reads the record of an organization, which must exist. */
export async function organizationOf(id: string): Promise<OrganizationRecord> {
  const found = await findOrganization(id, { consistent: true });
  if (found === undefined) throw new Error("there is no such organization");
  return found;
}

/** Charges the wallet of an organization for messages without the API, and records the debit with other writes. */
export async function chargeWallet(
  organizationId: string,
  { micros, together = [] }: { readonly micros: readonly number[]; readonly together?: readonly Write[] },
): Promise<void> {
  const debited = await debitFor({
    organizationId,
    charges: micros.map((amountMicros) => ({ amountMicros })),
    at: new Date(),
    keepAccepted: async () => undefined,
    messageIds: micros.map(() => newId("msg")),
  });
  await recordDebit(debited, undefined, together);
}
