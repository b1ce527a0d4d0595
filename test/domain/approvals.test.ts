import { beforeEach, expect, it, vi } from "vitest";

import { approve, finish, propose, readApproval, reject, withdraw } from "../../shared/tenancy/approvals.ts";
import { useOwnTable } from "../support/own-table.ts";

const second = "arn:aws:iam::1:user/bob";
const third = "arn:aws:iam::1:user/carl";
let id: string;

beforeEach(async () => {
  vi.setSystemTime("2031-03-01T12:00:00Z");
  await useOwnTable();
  const movement = { command: "wallets credit", input: {}, what: "Credit", organizationId: "org_1" };
  ({ id } = await propose({ ...movement, amountMicros: 1, proposedBy: "arn:aws:iam::1:user/ada" }));
});

it("a proposal cannot be rejected while any attempt to approve it may move the money", async () => {
  const [rejected, other] = [await approve(id, second), await approve(id, second)];
  await withdraw(id, rejected);
  await withdraw(id, rejected);
  await expect(reject(id, third)).rejects.toThrow("has decided");
  await withdraw(id, other);
  await reject(id, third);
  await expect(approve(id, second)).rejects.toThrow("has decided");
});

it("an attempt that repeats one that crashed, and is rejected, leaves the first one", async () => {
  await approve(id, second);
  await withdraw(id, await approve(id, second));
  await expect(reject(id, third)).rejects.toThrow("has decided");
  await finish(id);
  expect(await readApproval(id, third)).toMatchObject({ approvedBy: second });
});
