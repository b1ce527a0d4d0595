import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import {
  answerAfter,
  conflict,
  dropAnswer,
  heldBack,
  isBy,
  isDebit,
  isMessage,
  isReckoning,
  isRecord,
  loseRequest,
  throttle,
} from "../support/faults.ts";
import { killing, reconcile, runSchedule } from "../support/functions.ts";
import { expectPaidMessages } from "../support/ledger.ts";
import { storedMessages } from "../support/messages.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The charge of a message by the bundled functions: one fault of each kind, and those that the model of the money path lacks.
 * The model in `test/model` loses, delays, repeats and rejects each request, and ends functions before and after it.
 */

const { gateway, faults, log } = await gatewayOfFile();
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
});

async function send(key?: string): Promise<ApiResponse> {
  return customer.trySend({}, key);
}

// This comes first, because it visits all wallets in the table.
describe("the reconciler", () => {
  it("refunds once although it is killed after each of its calls in turn", async () => {
    faults.next(isDebit, killing(gateway, "ApiSendSms", "after"));
    await send();
    gateway.advanceClock(graceMs + 60_000);
    let kills = 0;
    for (let call = 1; ; call += 1) {
      let count = 0;
      let killed = false;
      faults.clear();
      faults.next(
        (request) => isBy("ReconcileWallets")(request) && (count += 1) === call,
        async (request, next) => {
          killed = true;
          return killing(gateway, "ReconcileWallets", "after")(request, next);
        },
      );
      await runSchedule(gateway, "ReconcileWallets").catch(() => undefined);
      if (!killed) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(5);
    await expectPaidMessages(customer, 0);
    const refunds = (await customer.ledger()).filter(({ type }) => type === "refund");
    expect(refunds).toHaveLength(1);
  });

  it("refunds once in many simultaneous runs", async () => {
    faults.next(isDebit, killing(gateway, "ApiSendSms", "after"));
    await send();
    gateway.advanceClock(graceMs + 60_000);
    await Promise.all(Array.from({ length: 5 }, async () => runSchedule(gateway, "ReconcileWallets")));
    await expectPaidMessages(customer, 0);
    expect((await customer.ledger()).filter(({ type }) => type === "refund")).toHaveLength(1);
  });
});

describe("a debit that was applied, and whose response", () => {
  it("came after the time-out, is taken once and the message is accepted", async () => {
    faults.next(isDebit, answerAfter(2_500));
    expect((await send()).status).toBe(202);
    expect(faults.seen.filter(isDebit)).toHaveLength(1);
    await expectPaidMessages(customer, 1);
  });

  it("was lost while another debit overtook it, is rejected, never resent, and refunded", async () => {
    faults.next(isDebit, async (request, next) => {
      await next(request);
      expect((await send()).status).toBe(202);
      throw new Error("the response was dropped");
    });
    expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect(await customer.balance()).toBe(0.9842);
    await reconcile(gateway);
    expect(faults.seen.filter(isDebit)).toHaveLength(2);
    await expectPaidMessages(customer, 1);
  });
});

describe("the spending limit of a new day", () => {
  /** Sets a cap for two messages, one of them spent on the day before. */
  beforeEach(async () => {
    const key = keys.wallet(customer.organizationId);
    await updateItem(z.unknown(), updateOf(key, { set: { operatorDailyCap: 2 * 7_900 } }));
    const yesterday = { spendDay: "2026-01-01", spentTodayMicros: 7_900, spendLeftMicros: 7_900 };
    await updateItem(z.unknown(), updateOf(key, { set: yesterday }));
  });

  async function expectTwoMore(): Promise<void> {
    const codes = [await send(), await send(), await send()].map(({ status }) => status);
    expect(codes).toEqual([202, 202, 402]);
    await expectPaidMessages(customer, 2);
  }

  it("is calculated by the next send when the function is killed after it", async () => {
    faults.next(isReckoning, killing(gateway, "ApiSendSms", "after"));
    expect((await send()).status).toBe(500);
    await expectTwoMore();
  });
});

it("a debit that never arrived is not resent, and costs nothing", async () => {
  faults.next(isDebit, loseRequest);
  expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
  await expectPaidMessages(customer, 0);
});

it.each([
  ["throttled twice", throttle, 2],
  ["rejected three times because of a running transaction", conflict, 3],
])("a debit that is %s finally succeeds once", async (_name, fault, times) => {
  faults.next(isDebit, fault, times);
  expect((await send()).status).toBe(202);
  expect(faults.seen.filter(isDebit)).toHaveLength(times + 1);
  await expectPaidMessages(customer, 1);
});

it("a record that arrives after the grace period is rejected: the debit is refunded, and there is no message", async () => {
  const late = heldBack();
  faults.next(isRecord, late.fault);
  // Its retry by the SDK, and the read that checks for it, fail.
  faults.next(isRecord, loseRequest, 2);
  expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
  await reconcile(gateway);
  expect((await late.arrive()).status).toBe(400);
  await reconcile(gateway);
  await expectPaidMessages(customer, 0);
});

it("a record that only collides with other transactions is abandoned, and its price is refunded immediately and once", async () => {
  faults.next(isRecord, conflict, 100);
  expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
  expect(await customer.balance()).toBe(1);
  await reconcile(gateway);
  await reconcile(gateway);
  await expectPaidMessages(customer, 0);
  expect(await storedMessages(customer.organizationId)).toEqual([]);
  expect((await customer.ledger()).map(({ type, amount }) => [type, amount])).toEqual([
    ["top_up", 1],
    ["void", -0.0079],
    ["refund", 0.0079],
  ]);
});

it("a record whose response was lost is found, and the message is accepted once", async () => {
  faults.next(isRecord, dropAnswer, 3);
  expect((await send()).status).toBe(202);
  await expectPaidMessages(customer, 1);
});

describe("a message that was written before its ledger entry failed", () => {
  it("does not exist, and is refunded, when the message could not be written", async () => {
    faults.next(isMessage, throttle, 100);
    expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect(await customer.balance()).toBe(1);
    expect(await storedMessages(customer.organizationId)).toEqual([]);
    await reconcile(gateway);
    await expectPaidMessages(customer, 0);
  });

  it("is not overwritten by an earlier attempt to write it that arrives after it was sent", async () => {
    const late = heldBack();
    faults.next(isMessage, late.fault);
    const { id } = await customer.send();
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    expect((await late.arrive()).status).toBe(400);
    expect((await customer.message(id)).status).toBe("sent");
    const [message, ...others] = await storedMessages(customer.organizationId);
    expect(others).toEqual([]);
    expect(message).not.toHaveProperty("expiresAt");
  });
});

it("the reconciler reports its work as metrics and as a log line", async () => {
  faults.next(isDebit, killing(gateway, "ApiSendSms", "after"));
  await send();
  await reconcile(gateway);
  const voided = (): string[] => log.filter((line) => line.includes('"VoidedDebits":1'));
  // A function's log lines arrive a moment after its response.
  await vi.waitFor(() => expect(voided()).toHaveLength(1), patience);
  const metrics = voided();
  expect(JSON.parse(metrics[0] ?? "")).toMatchObject({ RefundedMicros: 7_900, FailedReconciliations: 0 });
  expect(metrics[0]).toContain("CloudWatchMetrics");
  const lines = log.filter(
    (line) => line.includes("wallet.reconciled") && line.includes(customer.organizationId),
  );
  expect(lines).toHaveLength(1);
});

describe("a send with something missing", () => {
  /** The function's requests about the wallet. */
  function requestsOfWallet(): string[] {
    return faults.seen
      .filter((request) => isBy("ApiSendSms")(request) && request.body.includes("WALLET#"))
      .map(({ operation }) => operation);
  }

  it("reports the sender ID first, then the wallet, and distinguishes a missing wallet from a low balance without a read", async () => {
    await deleteItem(keys.wallet(customer.organizationId));
    expect(errorOf(await customer.trySend({ senderId: undefined }))).toEqual({
      status: 400,
      code: "MISSING_SENDER_ID",
    });
    expect(requestsOfWallet()).toEqual([]);
    expect(errorOf(await send())).toEqual({ status: 400, code: "WALLET_MISSING" });
    expect(requestsOfWallet()).toEqual(["dynamodb:UpdateItem"]);

    faults.clear();
    customer = await Customer.register({ baseUrl: gateway.url });
    expect(errorOf(await send())).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
    expect(requestsOfWallet()).toEqual(["dynamodb:UpdateItem"]);
  });
});

describe("an idempotent send", () => {
  it("whose function is killed after its debit can be sent again when its lease lapses, and is paid once", async () => {
    faults.next(isDebit, killing(gateway, "ApiSendSms", "after"));
    expect((await send("crash")).status).toBe(500);
    expect(errorOf(await send("crash"))).toEqual({ status: 409, code: "IDEMPOTENCY_IN_PROGRESS" });
    gateway.advanceClock(31_000);
    expect((await send("crash")).status).toBe(202);
    expect((await send("crash")).headers.get("idempotent-replayed")).toBe("true");
    await reconcile(gateway);
    await expectPaidMessages(customer, 1);
  });

  it("whose function is killed after its record returns the recorded result", async () => {
    faults.next(isRecord, killing(gateway, "ApiSendSms", "after"));
    expect((await send("done")).status).toBe(500);
    const again = await send("done");
    expect(again.status).toBe(202);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    await reconcile(gateway);
    await expectPaidMessages(customer, 1);
  });
});

it("an idempotent send whose repeated record is not recognized as a repeat is found by its ledger entry", async () => {
  faults.next(isRecord, dropAnswer);
  faults.next(isRecord, async (request, next) => {
    const body = { ...JSON.parse(request.body), ClientRequestToken: "as-if-forgotten" };
    return next({ ...request, body: JSON.stringify(body) });
  });
  const response = await send("forgotten");
  expect(response.status).toBe(202);
  const { id } = dataOf(response, AcceptedMessage);
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
  await expectPaidMessages(customer, 1);
});

describe("a credit", () => {
  it("whose responses are all dropped is added once", async () => {
    faults.next(isBy("ApiTopUpWallet", "dynamodb:TransactWriteItems"), dropAnswer, 3);
    expect((await customer.topUp(2)).balance).toBe(3);
    const audit = await verifyWallet(customer.organizationId);
    expect(audit).toMatchObject({ balanceMicros: 3_000_000, findings: [], pending: [] });
  });

  it("that never arrives adds nothing and returns an error", async () => {
    faults.next(isBy("ApiTopUpWallet", "dynamodb:TransactWriteItems"), loseRequest, 3);
    const response = await customer.call("/v1/wallet/top-up", { json: { amount: 2 } });
    expect(errorOf(response)).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect(await customer.balance()).toBe(1);
  });
});
