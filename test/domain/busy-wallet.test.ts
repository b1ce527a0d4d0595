import { expect, it } from "vitest";

import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { openWallet } from "../support/wallets.ts";

const debtors = 12;
const refunds = 10;

it("refunds get through to a wallet that is debited without a pause", async () => {
  const organizationId = await openWallet(1_000_000_000);
  const stopping = new AbortController();
  let debits = 0;
  const debitWithoutPause = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const charges = [{ amountMicros: 1 }];
      await debitWallet({ organizationId, charges, at: new Date(), keepAccepted: async () => undefined });
      debits += 1;
    }
  };
  const debiting = Array.from({ length: debtors }, debitWithoutPause);
  const posted = await Promise.allSettled(
    Array.from({ length: refunds }, async () =>
      postToWallet({ organizationId, type: "refund", amountMicros: 1_000 }),
    ),
  );
  stopping.abort();
  await Promise.all(debiting);
  expect(posted.map(({ status }) => status)).toEqual(posted.map(() => "fulfilled"));
  const wallet = await readWallet(organizationId);
  expect(wallet.balanceMicros).toBe(1_000_000_000 + refunds * 1_000 - debits);
  expect(wallet.seq).toBe(1 + refunds + debits);
});
