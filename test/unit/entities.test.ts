import { expect, it } from "vitest";

import { getMessage } from "../../shared/messages/message/read.ts";
import { PaymentRecord } from "../../shared/money/payments/record.ts";
import { WalletRecord } from "../../shared/money/wallet/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { checkOf, updateItem, updateOf, type Write } from "../../shared/platform/table/write.ts";

const key = keys.wallet("org_1");

/** Writes and reads that must not compile. Nothing calls them. */
const faults: readonly (() => unknown)[] = [
  // @ts-expect-error a written field that a wallet does not have
  () => updateOf(key, { set: { rechargeIdd: "pay_1" } }),
  // @ts-expect-error a value of another type
  () => updateOf(key, { set: { rechargeId: 1 } }),
  // @ts-expect-error a required field that a wallet does not have
  () => checkOf(key, { absent: ["rechargId", "closedAt"] }),
  // @ts-expect-error a removed field that every wallet has
  () => updateOf(key, { remove: ["balanceMicros"] }),
  // @ts-expect-error the schema of another kind of item
  async () => findItem(PaymentRecord, key),
  // @ts-expect-error a write of another kind of item
  async () => updateItem(PaymentRecord, updateOf(key, { set: { rechargeId: "pay_1" } })),
  // @ts-expect-error a read for a handler that does not say whether test data may be read
  async () => getMessage({ organizationId: "org_1" }, "msg_1"),
  // @ts-expect-error a write that no function has checked
  (): Write => ({ key, changes: { set: { rechargeIdd: "pay_1" } } }),
];

it("a wrong field, type, key or schema does not compile, and a right one does", () => {
  expect(faults).toHaveLength(8);
  const right = updateOf(key, { set: { rechargeId: "pay_1" } }, { absent: ["rechargeId", "closedAt"] });
  expect(right).toMatchObject({ key, changes: { set: { rechargeId: "pay_1" } } });
  expect(async () => findItem(WalletRecord, key)).toBeTypeOf("function");
});
