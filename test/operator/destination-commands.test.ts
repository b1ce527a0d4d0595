import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import * as z from "zod/mini";

import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { errorOf, type Customer } from "../support/api.ts";
import { runSchedule } from "../support/functions.ts";
import { putSent } from "../support/message-records.ts";
import { auditLog, jsonOf, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The operator stops a fraud with one command while a gateway runs, and the messages that wait are refunded.
 */

const operated = useOperatedGateway();
const to = "22177123456";
const notAllowed = { status: 403, code: "DESTINATION_NOT_ALLOWED" };
let customer: Customer;
let other: Customer;
/** How far the gateway's clock is ahead of this machine's. */
let aheadMs = 0;

function advanceGateway(ms: number): void {
  aheadMs += ms;
  operated.gateway.advanceClock(ms);
}

beforeAll(async () => {
  customer = await (await operated.register({ balance: 10 })).withApiKey();
  other = await (await operated.register({ balance: 10 })).withApiKey();
});

/** Returns the outcome of a send, after the minute in which a block takes effect. */
async function sendOf(sender: Customer): Promise<unknown> {
  advanceGateway(minuteMs);
  const response = await sender.trySend({ to });
  return response.status === 202 ? "accepted" : errorOf(response);
}

it("a blocked prefix rejects sends within a minute, and messages that wait fail and are refunded", async () => {
  const scheduledAt = new Date(Date.now() + 30 * minuteMs).toISOString();
  const { id } = await customer.send({ to, scheduledAt });
  expect(await customer.balance()).toBe(9.95);
  const blocked = await outputOf("destinations block 22177 --reason 'Ticket 31: pumping'");
  expect(blocked).toMatch(
    /^numbers with 22177 for all organizations: blocked since \S+Z \(Ticket 31: pumping\)\n$/,
  );
  // A repetition changes nothing, not even the reason.
  expect(await outputOf("destinations block 22177 --reason again")).toBe(blocked);
  expect(await sendOf(customer)).toEqual(notAllowed);
  expect(await sendOf(other)).toEqual(notAllowed);
  const json = { to, message: "Hello" };
  expect(errorOf(await customer.call("/v1/sms/estimate", { json }))).toEqual(notAllowed);
  expect(await customer.client.listPrices({ query: { prefix: to } })).toMatchObject({ rows: [] });
  advanceGateway(40 * minuteMs);
  await runSchedule(operated.gateway, "ReleaseScheduledJobs");
  await vi.waitFor(async () => {
    expect(await customer.message(id)).toMatchObject({ status: "failed", errorCode: "MESSAGE_UNROUTABLE" });
    expect(await customer.balance()).toBe(10);
  }, patience);
  expect(await customer.ledger()).toHaveLength(3);
  expect(await verifyWallet(customer.organizationId)).toMatchObject({ findings: [] });

  expect(await outputOf("destinations unblock 22177")).toBe(
    "numbers with 22177 for all organizations: no longer blocked\n",
  );
  expect(await sendOf(customer)).toBe("accepted");
  expect(await rejectionOf("destinations unblock 22177")).toBe(
    "There is no block of numbers with 22177 for all organizations.",
  );
});

it("a block for one organization leaves the others alone, and is in that organization's audit log", async () => {
  const { email, organizationId } = customer;
  await outputOf(`destinations block 221 --organization ${email} --reason 'Ticket 32'`);
  expect([await sendOf(customer), await sendOf(other)]).toEqual([notAllowed, "accepted"]);
  expect(await jsonOf("destinations list", z.unknown())).toEqual([
    {
      entity: "blockedDestination",
      prefix: "221",
      organizationId,
      reason: "Ticket 32",
      blockedAt: expect.any(String),
    },
  ]);
  expect(await outputOf("destinations list")).toMatch(
    new RegExp(`^221 +${organizationId} +nothing +\\S+ +Ticket 32$`, "m"),
  );
  await outputOf(`destinations unblock 221 --organization ${organizationId}`);
  expect(await sendOf(customer)).toBe("accepted");
  const blocked = { blockedAt: expect.any(String), reason: "Ticket 32" };
  expect(await auditLog("destinations block", email)).toMatchObject([
    { outcome: "done", subject: { prefix: "221" }, before: {}, after: blocked },
  ]);
  expect(await auditLog("destinations unblock", email)).toMatchObject([{ outcome: "done", before: blocked }]);
});

it("a limit rejects what passes it within a minute, and another one replaces it", async () => {
  const { email, organizationId } = other;
  // All sends are on one day: the gateway's clock goes to the first hours of the next one.
  advanceGateway(dayMs - (Date.now() % dayMs));
  expect(await outputOf("destinations limit 221 --daily 0.05 --reason 'Ticket 33'")).toBe(
    "numbers with 221 for all organizations: at most 0.050000 USD a day (Ticket 33)\n",
  );
  expect([await sendOf(other), await sendOf(other)]).toEqual(["accepted", notAllowed]);
  await outputOf(`destinations limit 221 --daily 0.10 --organization ${email} --reason 'Ticket 34'`);
  expect([await sendOf(other), await sendOf(other)]).toEqual(["accepted", notAllowed]);
  expect(await outputOf("destinations list")).toMatch(
    new RegExp(`^221 +all +0.050000 USD .*\n221 +${organizationId} +0.100000 USD .* Ticket 34$`, "m"),
  );
  await outputOf("destinations limit 221 --daily none --reason 'Ticket 34'");
  expect(
    await outputOf(`destinations limit 221 --daily none --organization ${email} --reason 'Ticket 35'`),
  ).toBe(`numbers with 221 for ${organizationId}: no limit (Ticket 35)\n`);
  expect(await sendOf(other)).toBe("accepted");
  const limited = { dailyMicros: 100_000, reason: "Ticket 34" };
  expect(await auditLog("destinations limit", email)).toMatchObject([
    { outcome: "done", before: limited },
    { outcome: "done", after: limited },
  ]);
});

it("the list of unusual customers has what the last run of the watch found", async () => {
  // The watch visits no wallet that paid for less than fifty messages. This one has not paid for any.
  const { organizationId } = await operated.register({});
  const title = /^DAY +ORGANIZATION +COUNTRY +MESSAGES +AMOUNT +USUAL\n/;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + aheadMs });
  onTestFinished(() => void vi.useRealTimers());
  await putSent(organizationId, 60);
  // The watch leaves the messages of the last minute to its next run.
  advanceGateway(2 * minuteMs);
  await runSchedule(operated.gateway, "WatchSpending");
  const listed = await outputOf("organizations unusual");
  expect(listed).toMatch(title);
  expect(listed).toMatch(new RegExp(`${organizationId} +US +60 +0.474000 USD +0.000000 USD`));
});

it.each([
  [
    "destinations limit 221 --daily 0 --reason x",
    "--daily must be a number above 0 with at most 6 decimals, for example 12.50",
    2,
  ],
  ["destinations block +221 --reason x", "<prefix> must be 1 to 15 digits, country code first", 2],
  ["destinations block 221", "--reason is missing", 2],
  ["destinations block 221 --organization org_0 --reason x", "There is no organization org_0.", 1],
])("%s is rejected", async (typed, problem, exitCode) => {
  expect(await rejectionOf(typed, exitCode)).toBe(problem);
});

it("the ranges that the guard of verifications blocks are shown with the figures of countries, and unblocked", async () => {
  const json = { brand: "Ada", guard: "block" };
  await customer.call("/v1/verification-profiles/default", { method: "PUT", json });
  const start = async (last: number) =>
    (await customer.call("/v1/verifications", { json: { to: `1500555120${last}`, senderId: "ACME" } }))
      .status;
  for (let last = 0; last < 10; last += 1) expect(await start(last)).toBe(202);
  const rejected = await customer.call("/v1/verifications", {
    json: { to: "15005551300", senderId: "ACME" },
  });
  expect(rejected.status).toBe(403);
  const { organizationId } = customer;
  expect(await outputOf(`verifications list ${customer.email}`)).toMatch(
    new RegExp(
      `^ORGANIZATION +COUNTRY +STARTED +APPROVED +UNDELIVERED\\n${organizationId} +US +10 +0 +0\\n` +
        `ORGANIZATION +BLOCKED RANGE +UNTIL +REASON\\n${organizationId} +1500555 +\\S+Z +0 of 0 approved in a day, 10 not`,
    ),
  );
  expect(await outputOf(`verifications unblock ${customer.email} 1500555`)).toBe(
    "1500555: no longer blocked\n",
  );
  expect(await start(5)).toBe(202);
  expect(await rejectionOf(`verifications unblock ${customer.email} 1500555`)).toBe(
    `The range 1500555 is not blocked for ${organizationId}.`,
  );
  expect(await auditLog("verifications unblock", customer.email)).toMatchObject([
    { before: { range: "1500555" } },
  ]);
});
