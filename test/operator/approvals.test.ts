import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterEach, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { connect } from "../../infra/operator/context.ts";
import { Output } from "../../infra/operator/output.ts";
import { execute } from "../../infra/operator/run.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { readPayment } from "../../shared/money/payments/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import type { Customer } from "../support/api.ts";
import { damage } from "../support/items.ts";
import {
  auditLog,
  captured,
  jsonOf,
  operator,
  outputOf,
  rejectionOf,
  understand,
} from "../support/operator.ts";
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
  delete process.env["OPERATOR_ROLE"];
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

/** Runs a command, and changes something while its question is open. @returns the question */
async function whileAsked(line: string, change: () => Promise<void>): Promise<string> {
  const { order } = await understand(line);
  if (order === undefined) throw new Error(`${line} is not valid`);
  let question = "";
  const consent = async (asked: string): Promise<void> => {
    question = asked;
    await change();
  };
  const connection = await connect(undefined);
  await captured(async () => execute(order, connection, new Output(false), consent));
  return question;
}

const decided = (id: string): string => `Someone else has decided on ${id}, or it has expired.`;
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
  expect(await rejectionOf(`approvals reject ${id}`)).toBe(decided(id));
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

it("the policy of finance suffices to propose and to approve", async () => {
  const before = await customer.balance();
  process.env["OPERATOR_ROLE"] = "finance";
  const id = await propose(`wallets credit ${customer.email} 101 --reason large`);
  as("grace");
  const question = await whileAsked(`approvals approve ${id}`, async () => undefined);
  expect(question).toMatch(new RegExp(`\nProposed by ada\nBalance now +${before.toFixed(6)} USD$`));
  expect(await customer.balance()).toBe(before + 101);
});

it("a person with two roles does not decide on their own proposal", async () => {
  const arn = "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO";
  as(`${arn}_finance_1a/ada@example.com`);
  const line = await rejectionOf(`wallets credit ${customer.email} 101 --reason large`);
  const id = /apr_\w+/.exec(line)?.[0] ?? "";
  const operatorRole = `${arn}_operator_2b/ada@example.com`;
  as(operatorRole);
  for (const verb of ["approve", "reject"]) {
    expect(await rejectionOf(`approvals ${verb} ${id}`)).toBe(
      `${operatorRole} made this proposal: another person decides on it.`,
    );
  }
  as(operatorRole.replace("12345", "54321"));
  expect(await outputOf(`approvals reject ${id}`)).toContain("is rejected");
});

it("a proposal that expires while the question is open is not approved", async () => {
  const before = await customer.balance();
  const id = await propose(`wallets credit ${customer.email} 101 --reason large`);
  as("grace");
  const approving = whileAsked(`approvals approve ${id}`, async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 8 * dayMs });
  });
  await expect(approving).rejects.toThrow(decided(id));
  expect(await customer.balance()).toBe(before);
});

it("a proposal whose movement the wallet rejected can be rejected, unless an earlier attempt may have made it", async () => {
  const { email } = await operated.register({ balance: 1 });
  const id = await propose(`wallets debit ${email} 150 --reason large`);
  const interrupted = await propose(`wallets debit ${email} 150 --reason large`);
  await damage(keys.approval(interrupted), { approvedBy: "grace" });
  as("grace");
  for (const each of [id, interrupted]) {
    expect(await rejectionOf(`approvals approve ${each}`)).toBe("The balance is lower than that amount.");
  }
  expect(await rejectionOf(`approvals reject ${interrupted}`)).toBe(decided(interrupted));
  expect(await outputOf(`approvals reject ${id}`)).toContain("is rejected");
});

it("a refund is the one of its question, and its repetition needs no second person", async () => {
  const { email, organizationId } = await operated.register({ balance: 300 });
  const credited = await propose(`wallets credit ${email} 300 --type payment --reason x --reference bank-2`);
  as("grace");
  await outputOf(`approvals approve ${credited}`);
  const [payment] = await jsonOf(`payments list --organization ${email}`, z.object({ id: z.string() }));
  const paymentId = payment?.id ?? "";
  const refund = `payments refund ${paymentId} --organization ${organizationId} --reason x`;
  const id = await propose(`${refund} --amount 250`);
  as("grace");
  await outputOf(`approvals approve ${id}`);
  const key = { organizationId, paymentId };
  const refundsOf = async () => (await readPayment(key)).refunds;
  const [first] = await refundsOf();
  const again = await outputOf(`${refund} --reference ${first?.id}`);
  expect(again).toContain("250.000000 USD left the wallet");
  const repeated = await whileAsked(`${refund} --amount 9 --reference ${first?.id}`, async () => undefined);
  expect(repeated).toContain(`refund 250.000000 USD of ${paymentId}.`);

  // A refund that fails leaves more to pay back.
  const question = await whileAsked(refund, async () => {
    await damage(keys.payment(organizationId, paymentId), { refunds: [{ ...first, status: "failed" }] });
  });
  expect(question).toContain(`refund 50.000000 USD of ${paymentId}.`);
  expect(await refundsOf()).toMatchObject([{ amountMicros: 250_000_000 }, { amountMicros: 50_000_000 }]);
});
