import { postToWallet } from "../../shared/money/wallet/post.ts";
import { newWallet } from "../../shared/money/wallet/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { transact } from "../../shared/platform/table/transact.ts";

/** Opens a wallet for a new organization in the table, without the API. @returns the organization's id */
export async function openWallet(balanceMicros: number): Promise<string> {
  const organizationId = newId("org");
  await transact({ wallet: newWallet(organizationId, new Date()) });
  if (balanceMicros > 0) await postToWallet({ organizationId, type: "top_up", amountMicros: balanceMicros });
  return organizationId;
}
