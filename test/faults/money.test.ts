import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { errorResponse, type AwsRequest } from "../../infra/local/local-aws.ts";
import { DashboardStats } from "../../shared/api/contract/dashboard.ts";
import { AcceptedMessage, Message } from "../../shared/api/contract/sms.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, queryItems } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf, errorOf, pageOf, type ApiResponse } from "../support/api.ts";
import {
  answer500,
  answerAfter,
  collision,
  conflict,
  dropAnswer,
  Faults,
  heldBack,
  isBy,
  isDebit,
  isMessage,
  isReckoning,
  isRecord,
  isVoidEntry,
  loseRequest,
  throttle,
  type Fault,
} from "../support/faults.ts";
import { functionNamed, runSchedule } from "../support/functions.ts";
import { startOwnGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const faults = new Faults();
const log: string[] = [];
let gateway: LocalGateway;
let customer: Customer;

beforeAll(async () => {
  gateway = await startOwnGateway(faults, (line) => log.push(line));
});
afterAll(async () => gateway.stop());

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
});
afterEach(() => {
  faults.clear();
  log.length = 0;
});

/** Kills the function that makes the request, before it arrives or after it was carried out. */
function killing(part: string, when: "after" | "before", killed = (): void => undefined): Fault {
  return async (request, next) => {
    if (when === "after") await next(request);
    await functionNamed(gateway, part).kill();
    killed();
    throw new Error("the function is gone");
  };
}

/** Runs the reconciler after the grace period. */
async function reconcile(): Promise<void> {
  gateway.advanceClock(graceMs + 60_000);
  await runSchedule(gateway, "ReconcileWallets");
}

async function send(key?: string): Promise<ApiResponse> {
  return customer.call("/v1/sms/send", {
    json: { to: "15005550000", message: "hello", senderId: "ACME" },
    headers: key === undefined ? {} : { "Idempotency-Key": key },
  });
}

async function messageCount(): Promise<number> {
  return pageOf(await customer.call("/v1/sms"), Message).meta.total;
}

/** The invariant: the balance is the sum of top-ups, less the messages that were accepted and not refunded. */
async function expectBooksInOrder(paidMessages: number): Promise<void> {
  const audit = await verifyWallet(customer.organizationId);
  expect(audit).toMatchObject({ findings: [], pending: [] });
  expect(audit.balanceMicros).toBe(1_000_000 - paidMessages * 7_900);
  expect(await messageCount()).toBe(paidMessages);
}

const SandboxRecord = z.object({ calls: z.number() });

/** The number of calls to the sandbox carrier for a message. */
async function carrierCalls(messageId: string): Promise<number> {
  return (await findItem(SandboxRecord, keys.sandboxMessage(messageId), { consistent: true }))?.calls ?? 0;
}

/** Delivers a message's job again, as the queue does with a job that was not deleted. */
async function deliverAgain(messageId: string): Promise<unknown> {
  const body = JSON.stringify({ organizationId: customer.organizationId, messageId });
  const record = { messageId: "1", body, attributes: { ApproximateReceiveCount: "2" } };
  return functionNamed(gateway, "SendMessage").invoke({ Records: [record] });
}

// This comes first, because it visits all wallets in the table.
describe("the reconciler", () => {
  it("refunds once although it is killed after each of its calls in turn", async () => {
    faults.next(isDebit, killing("ApiSendSms", "after"));
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
          return killing("ReconcileWallets", "after")(request, next);
        },
      );
      await runSchedule(gateway, "ReconcileWallets").catch(() => undefined);
      if (!killed) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(5);
    await expectBooksInOrder(0);
    const refunds = (await customer.ledger()).filter(({ type }) => type === "refund");
    expect(refunds).toHaveLength(1);
  });

  it("refunds once in many simultaneous runs", async () => {
    faults.next(isDebit, killing("ApiSendSms", "after"));
    await send();
    gateway.advanceClock(graceMs + 60_000);
    await Promise.all(Array.from({ length: 5 }, async () => runSchedule(gateway, "ReconcileWallets")));
    await expectBooksInOrder(0);
    expect((await customer.ledger()).filter(({ type }) => type === "refund")).toHaveLength(1);
  });
});

describe("a debit that was applied, and whose response", () => {
  it.each([
    ["was lost with the connection", dropAnswer],
    ["was an internal error", answer500],
    ["came after the time-out", answerAfter(2_500)],
  ])("%s, is taken once and the message is accepted", async (_name, fault) => {
    faults.next(isDebit, fault);
    expect((await send()).status).toBe(202);
    expect(faults.seen.filter(isDebit)).toHaveLength(1);
    await expectBooksInOrder(1);
  });

  it("was lost while another debit overtook it, is rejected, never resent, and refunded", async () => {
    faults.next(isDebit, async (request, next) => {
      await next(request);
      expect((await send()).status).toBe(202);
      throw new Error("the response was dropped");
    });
    expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect(await customer.balance()).toBe(0.9842);
    await reconcile();
    expect(faults.seen.filter(isDebit)).toHaveLength(2);
    await expectBooksInOrder(1);
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
    await expectBooksInOrder(2);
  }

  it.each([
    ["was dropped", dropAnswer],
    ["was an internal error", answer500],
    ["was that it was throttled", throttle],
  ])("is calculated once although the first response %s", async (_name, fault) => {
    faults.next(isReckoning, fault);
    await expectTwoMore();
    expect(faults.seen.filter(isReckoning).length).toBeGreaterThan(1);
  });

  it("is calculated by the next send when the function is killed after it", async () => {
    faults.next(isReckoning, killing("ApiSendSms", "after"));
    expect((await send()).status).toBe(500);
    await expectTwoMore();
  });

  it("is not granted again by a late calculation", async () => {
    const late = heldBack();
    faults.next(isReckoning, late.fault);
    await expectTwoMore();
    expect((await late.arrive()).status).toBe(400);
    expect((await send()).status).toBe(402);
  });
});

it("a debit that never arrived is not resent, and costs nothing", async () => {
  faults.next(isDebit, loseRequest);
  expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
  await expectBooksInOrder(0);
});

it.each([
  ["throttled twice", throttle, 2],
  ["rejected three times because of a running transaction", conflict, 3],
])("a debit that is %s finally succeeds once", async (_name, fault, times) => {
  faults.next(isDebit, fault, times);
  expect((await send()).status).toBe(202);
  expect(faults.seen.filter(isDebit)).toHaveLength(times + 1);
  await expectBooksInOrder(1);
});

it("a debit whose function is killed after it is refunded once, and the wallet is consistent", async () => {
  faults.next(isDebit, killing("ApiSendSms", "after"));
  expect((await send()).status).toBe(500);
  expect(await customer.balance()).toBe(0.9921);
  await runSchedule(gateway, "ReconcileWallets");
  // The debit is too young: its function might still be working.
  expect(await customer.balance()).toBe(0.9921);
  await reconcile();
  await reconcile();
  await expectBooksInOrder(0);
  const types = (await customer.ledger()).map(({ type, amount }) => [type, amount]);
  expect(types).toEqual([
    ["top_up", 1],
    ["void", -0.0079],
    ["refund", 0.0079],
  ]);
});

it("three lost debits between two recorded ones are refunded with their sum", async () => {
  await customer.send();
  for (let lost = 0; lost < 3; lost += 1) {
    faults.next(isDebit, killing("ApiSendSms", "after"));
    expect((await send()).status).toBe(500);
  }
  await customer.send();
  await reconcile();
  await expectBooksInOrder(2);
  const refunds = (await customer.ledger()).filter(({ type }) => type === "refund");
  expect(refunds.map(({ amount }) => amount)).toEqual([0.0237]);
});

it("a record that arrives after the grace period is rejected: the debit is refunded, and there is no message", async () => {
  const late = heldBack();
  faults.next(isRecord, late.fault);
  // Its retry by the SDK, and the read that checks for it, fail.
  faults.next(isRecord, loseRequest, 2);
  expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
  await reconcile();
  expect((await late.arrive()).status).toBe(400);
  await reconcile();
  await expectBooksInOrder(0);
});

it("a record that collides with other transactions for a while is retried on the same debit", async () => {
  faults.next(isRecord, conflict, 6);
  expect((await send()).status).toBe(202);
  expect(faults.seen.filter(isDebit)).toHaveLength(1);
  await expectBooksInOrder(1);
});

it("a record that only collides with other transactions is abandoned, and its price is refunded immediately and once", async () => {
  faults.next(isRecord, conflict, 100);
  expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
  expect(await customer.balance()).toBe(1);
  await reconcile();
  await reconcile();
  await expectBooksInOrder(0);
  expect((await customer.ledger()).map(({ type, amount }) => [type, amount])).toEqual([
    ["top_up", 1],
    ["void", -0.0079],
    ["refund", 0.0079],
  ]);
});

it("a record whose response was lost is found, and the message is accepted once", async () => {
  faults.next(isRecord, dropAnswer, 3);
  expect((await send()).status).toBe(202);
  await expectBooksInOrder(1);
});

it("a record whose response was lost is found although it is still running when its debit is to be voided", async () => {
  faults.next(isRecord, dropAnswer, 3);
  // DynamoDB's response to a write to an item in a running transaction.
  faults.next(isVoidEntry, collision, 2);
  expect((await send()).status).toBe(202);
  await expectBooksInOrder(1);
});

/** The customer's messages in the table, paid or not. */
async function storedMessages(): Promise<MessageRecord[]> {
  const { pk } = messageKey({ organizationId: customer.organizationId, id: "" });
  return queryItems(MessageRecord, { pk, limit: 10, consistent: true });
}

describe("a message that was written before its ledger entry failed", () => {
  it.each([
    ["before the entry", isRecord, "before"],
    ["after the message", isMessage, "after"],
  ] as const)(
    "is refunded, never sent and deleted when its function is killed %s",
    async (_name, call, when) => {
      faults.next(call, killing("ApiSendSms", when));
      expect((await send()).status).toBe(500);
      const [message] = await storedMessages();
      expect(message).toMatchObject({ status: "queued", attempts: 0 });
      await reconcile();
      await reconcile();
      await expectBooksInOrder(0);
      expect(await storedMessages()).toEqual([]);
      expect(await carrierCalls(message?.id ?? "")).toBe(0);
    },
  );

  it("is deleted and refunded immediately when the entry is abandoned", async () => {
    faults.next(isRecord, conflict, 100);
    expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect(await storedMessages()).toEqual([]);
    await reconcile();
    await expectBooksInOrder(0);
  });

  it("does not exist, and is refunded, when the message could not be written", async () => {
    faults.next(isMessage, throttle, 100);
    expect(errorOf(await send())).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect(await customer.balance()).toBe(1);
    expect(await storedMessages()).toEqual([]);
    await reconcile();
    await expectBooksInOrder(0);
  });

  it("is not overwritten by an earlier attempt to write it that arrives after it was sent", async () => {
    const late = heldBack();
    faults.next(isMessage, late.fault);
    const { id } = await customer.send();
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    expect((await late.arrive()).status).toBe(400);
    expect((await customer.message(id)).status).toBe("sent");
    const [message, ...others] = await storedMessages();
    expect(others).toEqual([]);
    expect(message).not.toHaveProperty("expiresAt");
  });
});

/**
 * Distinguishes a sender's requests for an organization's only message from those for other messages. The job of a sender
 * that an earlier test killed is delivered again after its visibility timeout.
 */
function requestsOf(organizationId: string): (request: AwsRequest) => boolean {
  let messageId: string | undefined;
  return ({ body }) => {
    if (body.includes(organizationId)) messageId ??= /msg_\w+/.exec(body)?.[0];
    return body.includes(organizationId) || (messageId !== undefined && body.includes(messageId));
  };
}

describe("a message that was recorded", () => {
  it("is accepted although the queue is down, and sent later", async () => {
    faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
    const response = await send();
    expect(response.status).toBe(202);
    const { id } = dataOf(response, AcceptedMessage);
    expect((await customer.message(id)).status).toBe("queued");
    const goOn = Promise.withResolvers<void>();
    const wait: Fault = async (request, next) => {
      await goOn.promise;
      return next(request);
    };
    faults.next(isBy("SendMessage"), wait, 100);
    await reconcile();
    // The reconciler has seen that it is paid, and it stays even if no sender processes it for days.
    expect((await storedMessages())[0]).not.toHaveProperty("expiresAt");
    goOn.resolve();
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    await expectBooksInOrder(1);
  });

  it("is sent immediately although the response to its lease was lost", async () => {
    faults.next(isBy("SendMessage", "dynamodb:UpdateItem"), dropAnswer);
    const { id } = await customer.send();
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    expect(await carrierCalls(id)).toBe(1);
  });

  it("is sent and counted immediately although the response to its outcome was lost", async () => {
    const isOutcome = (request: AwsRequest): boolean =>
      isBy("SendMessage", "dynamodb:UpdateItem")(request) && request.body.includes("sentAt");
    faults.next(isOutcome, dropAnswer);
    const { id } = await customer.send();
    await vi.waitFor(async () => {
      const { today } = dataOf(await customer.call("/v1/dashboard/stats"), DashboardStats);
      expect(today).toMatchObject({ accepted: 1, sent: 1 });
    }, patience);
    expect((await customer.message(id)).status).toBe("sent");
    expect(await carrierCalls(id)).toBe(1);
  });

  // A sender makes five calls for a message. It reads the organization, acquires the lease, calls the sandbox carrier,
  // records the outcome and queues the event.
  it.each([
    [1, "before", 1],
    [1, "after", 1],
    [2, "before", 1],
    [2, "after", 1],
    [3, "before", 1],
    // The carrier accepted it, but no outcome is known. The repeated submission has the same reference, which it recognizes.
    [3, "after", 2],
    [4, "before", 2],
    [4, "after", 1],
    [5, "before", 1],
    [5, "after", 1],
  ] as const)(
    "is sent although its sender is killed at call %d, %s it is carried out",
    async (call, when, calls) => {
      let count = 0;
      const { promise: gone, resolve: killed } = Promise.withResolvers<void>();
      const isOfCustomer = requestsOf(customer.organizationId);
      faults.next(
        (request) => isBy("SendMessage")(request) && isOfCustomer(request) && (count += 1) === call,
        killing("SendMessage", when, killed),
      );
      const { id } = await customer.send();
      // A job that arrived before the sender ended would end with it.
      await gone;
      // Does what the queue does when the job's visibility timeout is over and the lease has lapsed.
      gateway.advanceClock(120_000);
      const message = { organizationId: customer.organizationId, messageId: id };
      const job = {
        messageId: "1",
        body: JSON.stringify(message),
        attributes: { ApproximateReceiveCount: "2" },
      };
      await vi.waitFor(async () => {
        const result = await functionNamed(gateway, "SendMessage").invoke({ Records: [job] });
        expect(result).toEqual({ batchItemFailures: [] });
      }, patience);
      expect((await customer.message(id)).status).toBe("sent");
      expect(await carrierCalls(id)).toBe(calls);
      await expectBooksInOrder(1);
    },
  );
});

it("a job that the queue delivers five more times in parallel reaches the carrier once", async () => {
  const { id } = await customer.send();
  await Promise.all(Array.from({ length: 5 }, async () => deliverAgain(id)));
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
  expect(await carrierCalls(id)).toBe(1);
  await expectBooksInOrder(1);
});

it.each([
  // Each of the SDK's three tries times out. One attempt of that kind is enough.
  ["hangs", answerAfter(15_000), 3],
  ["returns a 500", async () => errorResponse("InternalServerError", "password=hunter2", 500), 100],
  ["returns garbage", async () => ({ status: 200, headers: {}, body: "<html>password=hunter2" }), 100],
] satisfies [string, Fault, number][])(
  "a message whose carrier %s and never reports an outcome fails with a safe code and is refunded",
  async (_name, fault, times) => {
    const isCarrier = (request: AwsRequest): boolean => request.body.includes("SANDBOX#");
    faults.next(isCarrier, fault, times);
    faults.next(isCarrier, loseRequest, 100);
    const { id } = await customer.send();
    await vi.waitFor(() => expect(faults.seen.filter(isCarrier).length).toBeGreaterThan(0), patience);
    await vi.waitFor(
      async () => {
        gateway.advanceClock(120_000);
        await deliverAgain(id);
        expect((await customer.message(id)).status).toBe("failed");
      },
      { timeout: 60_000, interval: 100 },
    );
    expect((await customer.message(id)).errorCode).toBe("MESSAGE_OUTCOME_UNKNOWN");
    expect((await customer.call(`/v1/sms/${id}`)).text).not.toContain("hunter2");
    await vi.waitFor(async () => expect(await customer.balance()).toBe(1), patience);
    expect(log.join("\n")).not.toContain("hunter2");
  },
);

it("the reconciler reports its work as metrics and as a log line", async () => {
  faults.next(isDebit, killing("ApiSendSms", "after"));
  await send();
  await reconcile();
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
  async function trySend(senderId?: string): Promise<ApiResponse> {
    return customer.call("/v1/sms/send", { json: { to: "15005550000", message: "hello", senderId } });
  }

  /** The function's requests about the wallet. */
  function askedOfWallet(): string[] {
    return faults.seen
      .filter((request) => isBy("ApiSendSms")(request) && request.body.includes("WALLET#"))
      .map(({ operation }) => operation);
  }

  it("reports the sender ID first, then the wallet, and distinguishes a missing wallet from a low balance without a read", async () => {
    await deleteItem(keys.wallet(customer.organizationId));
    expect(errorOf(await trySend())).toEqual({ status: 400, code: "MISSING_SENDER_ID" });
    expect(askedOfWallet()).toEqual([]);
    expect(errorOf(await trySend("ACME"))).toEqual({ status: 400, code: "WALLET_MISSING" });
    expect(askedOfWallet()).toEqual(["dynamodb:UpdateItem"]);

    faults.clear();
    customer = await Customer.register({ baseUrl: gateway.url });
    expect(errorOf(await trySend("ACME"))).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
    expect(askedOfWallet()).toEqual(["dynamodb:UpdateItem"]);
  });

  it("uses the organization's approved sender ID when it has one", async () => {
    await updateItem(
      z.unknown(),
      updateOf(keys.organization(customer.organizationId), { set: { defaultSenderId: "OURS" } }),
    );
    const response = await trySend();
    expect(response.status).toBe(202);
    expect((await customer.message(dataOf(response, AcceptedMessage).id)).senderId).toBe("OURS");
  });
});

describe("an idempotent send", () => {
  it("whose function is killed after its debit can be sent again when its lease lapses, and is paid once", async () => {
    faults.next(isDebit, killing("ApiSendSms", "after"));
    expect((await send("crash")).status).toBe(500);
    expect(errorOf(await send("crash"))).toEqual({ status: 409, code: "IDEMPOTENCY_IN_PROGRESS" });
    gateway.advanceClock(31_000);
    expect((await send("crash")).status).toBe(202);
    expect((await send("crash")).headers.get("idempotent-replayed")).toBe("true");
    await reconcile();
    await expectBooksInOrder(1);
  });

  it("whose function is killed after its record returns the recorded result", async () => {
    faults.next(isRecord, killing("ApiSendSms", "after"));
    expect((await send("done")).status).toBe(500);
    const again = await send("done");
    expect(again.status).toBe(202);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    await reconcile();
    await expectBooksInOrder(1);
  });

  it("that was abandoned cannot write late in addition to its successor", async () => {
    const late = heldBack();
    faults.next(isRecord, late.fault);
    faults.next(isRecord, loseRequest, 2);
    expect(errorOf(await send("late"))).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect((await send("late")).status).toBe(202);
    expect((await late.arrive()).status).toBe(400);
    await reconcile();
    await expectBooksInOrder(1);
  });

  it("whose record's response was lost permanently is found to be done", async () => {
    faults.next(isRecord, dropAnswer, 3);
    faults.next(
      isBy("ApiSendSms", "dynamodb:GetItem"),
      async (request, next) => {
        if (request.body.includes("MESSAGES#")) throw new Error("the look is lost too");
        return next(request);
      },
      10,
    );
    expect((await send("found")).status).toBe(202);
    await expectBooksInOrder(1);
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
  await expectBooksInOrder(1);
});

describe("a credit", () => {
  it.each([
    ["dropped", dropAnswer],
    ["an internal error", answer500],
  ])("whose responses are all %s is added once", async (_name, fault) => {
    faults.next(isBy("ApiTopUpWallet", "dynamodb:TransactWriteItems"), fault, 3);
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
