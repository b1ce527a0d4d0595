import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { newWallet } from "../../shared/money/wallet/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { ownNumber } from "./people.ts";

/** The customer of the model of carriers. */
export const organizationId = "org_01J00000000000000000000000";
export const initialMicros = 1_000_000_000;

/** Opens its wallet with money, and gives it the number to which people write. */
export async function openOrganization(): Promise<void> {
  await transact({ wallet: newWallet(organizationId, new Date()) });
  await postToWallet({ organizationId, type: "top_up", amountMicros: initialMicros });
  await putItem(
    putOf(keys.organization(organizationId), {
      entity: "organization",
      id: organizationId,
      name: "ACME",
      createdAt: new Date().toISOString(), // The organization receives its events, which are checked.
      webhookCount: 1,
    }),
  );
  await assignNumber({ number: ownNumber, organizationId });
}
