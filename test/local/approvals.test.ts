import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterEach, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import type { Customer } from "../support/api.ts";
import { damage } from "../support/items.ts";
import { auditLog, jsonOf, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

/*
 * Movements of money above the stage's amount, which a second operator approves.
 */

const operated = useOperatedGateway();
let customer: Customer;
beforeAll(async () => {
  const file = path.join(operated.dataFolder, "connections.json");
  const connections = JSON.parse(await readFile(file, "utf8"));
  connections.outputs.push({ name: outputNames.secondPersonAbove, value: "100" });
  await writeFile(file, JSON.stringify(connections));
  customer = await operated.register();
});
afterEach(() => {
  delete process.env["LOCAL_OPERATOR"];
  vi.useRealTimers();
});

function as(name: string): void {
  process.env["LOCAL_OPERATOR"] = name;
}

/** Proposes a movement as Ada. @returns the id of the proposal */
async function propose(command: string): Promise<string> {
  as("ada");
  const line = await rejectionOf(command);
  const [, id = ""] = /^Nothing was changed yet: .* run approvals approve (apr_\w+)\.$/.exec(line) ?? [];
  expect(id).not.toBe("");
  return id;
}

const Proposal = z.looseObject({ id: z.string(), proposedBy: z.string(), amountMicros: z.int() });

it("a credit up to the amount needs no second person, and a larger one is made once, by another", async () => {
  as("ada");
  await outputOf(`wallets credit ${customer.email} 100 --reason small --reference small`);
  const id = await propose(`wallets credit ${customer.email} 100.000001 --reason large`);
  expect(await customer.balance()).toBe(100);
  expect(await jsonOf("approvals list", Proposal)).toMatchObject([
    { id, proposedBy: "ada", amountMicros: 100_000_001, organizationId: customer.organizationId },
  ]);
  expect(await rejectionOf(`approvals approve ${id}`)).toBe(
    "ada made this proposal: another person decides on it.",
  );
  as("grace");
  expect(await outputOf(`approvals approve ${id}`)).toContain("balance 200.000001 USD");
  // A repetition, even at the same time and by a third person, moves nothing again.
  as("edsger");
  await Promise.all([operator(`approvals approve ${id}`), operator(`approvals approve ${id}`)]);
  expect(await customer.balance()).toBe(200.000001);
  expect(await rejectionOf(`approvals reject ${id}`)).toBe(`Someone else has decided on ${id}.`);
  expect(await outputOf("approvals list")).toContain("0 proposals");

  const [proposed] = await auditLog("wallets credit", customer.organizationId);
  expect(proposed).toMatchObject({ outcome: "refused", actor: { identity: "ada" } });
  const approved = await auditLog("approvals approve", customer.organizationId);
  expect(approved.at(-1)).toMatchObject({
    outcome: "done",
    subject: { id },
    actor: { identity: "grace" },
    before: { proposedBy: "ada" },
  });
});

it("an approval that was interrupted before the movement is completed by anyone but the proposer", async () => {
  const before = await customer.balance();
  const id = await propose(`wallets debit ${customer.email} 150 --reason large`);
  await damage(keys.approval(id), { approvedBy: "grace" });
  as("grace");
  expect(await outputOf("approvals list")).toContain("interrupted, approved by grace");
  await outputOf(`approvals approve ${id}`);
  expect(await customer.balance()).toBe(before - 150);
});

it("a payment and its refund need a second person too, and a rejected or old proposal moves nothing", async () => {
  const { email, organizationId } = customer;
  const credit = `wallets credit ${email} 300 --type payment --reason x --reference bank-1`;
  const id = await propose(credit);
  as("grace");
  await outputOf(`approvals approve ${id}`);
  const [payment] = await jsonOf(`payments list --organization ${email}`, z.object({ id: z.string() }));
  const paid = await customer.balance();
  const rejected = await propose(`payments refund ${payment?.id} --reason x`);
  expect(await jsonOf("approvals list", Proposal)).toMatchObject([
    { id: rejected, amountMicros: 300_000_000 },
  ]);
  as("grace");
  await outputOf(`approvals reject ${rejected}`);
  const none = (of: string): string => `There is no open proposal ${of}.`;
  expect(await rejectionOf(`approvals approve ${rejected}`)).toBe(none(rejected));

  const old = await propose(`payments refund ${payment?.id} --reason x`);
  as("grace");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 8 * dayMs });
  expect(await rejectionOf(`approvals approve ${old}`)).toBe(none(old));
  vi.useRealTimers();
  expect(await customer.balance()).toBe(paid);

  const refund = await propose(`payments refund ${payment?.id} --organization ${organizationId} --reason x`);
  as("grace");
  expect(await outputOf(`approvals approve ${refund}`)).toContain("300.000000 USD left the wallet");
  expect(await customer.balance()).toBe(paid - 300);
});
