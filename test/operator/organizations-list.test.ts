import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { newWallet } from "../../shared/money/wallet/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { reshard } from "../../shared/platform/table/shards.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { damage } from "../support/items.ts";
import { objectsIn, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

/*
 * The operator's list of organizations, on a gateway with the organizations of this file only.
 */

const Row = z.strictObject({
  id: z.string(),
  email: z.nullable(z.string()),
  name: z.nullable(z.string()),
  status: z.string(),
  balanceMicros: z.nullable(z.int()),
  lastSendAt: z.nullable(z.string()),
});

const { register } = useOperatedGateway();
const customers: Customer[] = [];

beforeAll(async () => {
  for (let count = 0; count < 5; count += 1) customers.push(await register({ balance: 1 }));
});

async function list(options = ""): Promise<z.infer<typeof Row>[]> {
  const out = await outputOf(`organizations list ${options} --json`);
  // The log reports an unreadable record.
  return objectsIn(out.replaceAll(/^.*"event":"record\.unreadable".*$/gm, ""), Row);
}

/** The customer who registered as the one of a number, from 0. */
function customer(number: number): Customer {
  const found = customers[number];
  if (found === undefined) throw new Error("there is no such customer");
  return found;
}

it("each organization is listed once, newest first, page by page", async () => {
  const newestFirst = customers.map(({ organizationId }) => organizationId).toReversed();
  expect((await list()).map(({ id }) => id)).toEqual(newestFirst);
  const ids: string[] = [];
  for (let page = 0; page < 4; page += 1) {
    const after = ids.at(-1);
    const rows = await list(`--limit 2 ${after === undefined ? "" : `--after ${after}`}`);
    expect(rows.length).toBe([2, 2, 1, 0][page]);
    ids.push(...rows.map(({ id }) => id));
  }
  expect(ids).toEqual(newestFirst);

  const first = await outputOf("organizations list --limit 2");
  expect(first).toMatch(/^ID +EMAIL +NAME +STATUS +BALANCE +LAST SEND$/m);
  expect(first).toContain(`More organizations follow: --after ${newestFirst[1]}\n`);
  const last = await outputOf(`organizations list --after ${newestFirst[3]}`);
  expect(last).toMatch(
    new RegExp(`^${newestFirst[4]} +${customer(0).email} .* active +1\\.000000 USD +never$`, "m"),
  );
  expect(last).not.toContain("More organizations follow");
  const end = await outputOf(`organizations list --after ${newestFirst[4]}`);
  expect(end).toBe("There are no more organizations.\n");
  for (const wrong of ["--limit 1001", "--after ada@example.com"]) {
    await rejectionOf(`organizations list ${wrong}`, 2);
  }
});

it("shows the email, the name, the state, the balance and the last send of each", async () => {
  const [sending, closed, suspended, erased, broken] = [0, 1, 2, 3, 4].map(customer);
  if (!sending || !closed || !suspended || !erased || !broken) throw new Error("there are five customers");
  await sending.send();
  await reshard(sending.organizationId, 4, 1);
  let { queuedAt } = await sending.send();
  for (let count = 0; count < 5; count += 1) ({ queuedAt } = await sending.send());
  await outputOf(`wallets close ${closed.email} --reason x`);
  await outputOf(`organizations suspend ${suspended.email} --reason x`);
  await deleteItem(keys.organization(erased.organizationId));
  await damage(keys.organization(broken.organizationId), { name: 7 });
  // All that it sent has expired.
  const formerId = newId("org");
  await transact({ wallet: newWallet(formerId, new Date()) });
  const sent = { messageCount: 2, spendDay: "2026-01-05" };
  await updateItem(z.unknown(), updateOf(keys.wallet(formerId), { set: sent }));

  const rows = new Map((await list()).map(({ id, ...row }) => [id, row]));
  expect(rows.size).toBe(6);
  const registered = ({ email }: Customer) => ({
    email,
    name: email,
    balanceMicros: 1_000_000,
    lastSendAt: null,
  });
  const { lastSendAt, ...ofSending } = rows.get(sending.organizationId) ?? { lastSendAt: null };
  expect(ofSending).toEqual({
    email: sending.email,
    name: sending.email,
    status: "active",
    balanceMicros: 1_000_000 - 7 * 7_900,
  });
  expect(Math.abs(Date.parse(lastSendAt ?? "") - Date.parse(queuedAt))).toBeLessThan(1_000);
  expect(rows.get(closed.organizationId)).toEqual({ ...registered(closed), status: "closed" });
  expect(rows.get(suspended.organizationId)).toEqual({ ...registered(suspended), status: "suspended" });
  const withoutUser = { email: null, name: null, balanceMicros: 1_000_000, lastSendAt: null };
  expect(rows.get(erased.organizationId)).toEqual({ ...withoutUser, status: "erased" });
  expect(rows.get(broken.organizationId)).toEqual({ ...withoutUser, status: "unreadable" });
  expect(rows.get(formerId)).toMatchObject({ status: "erased", lastSendAt: "2026-01-05" });
});
