import { createHash } from "node:crypto";

import { afterEach, describe, expect, inject, it, vi } from "vitest";
import * as z from "zod/mini";

import { Breakers } from "../../shared/carriers/breaker.ts";
import type { Carrier, SubmitResult } from "../../shared/carriers/carrier.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { callbackReceiver } from "../../shared/messages/callbacks/receive.ts";
import { countSent } from "../../shared/messages/counts/arrivals.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { paymentPut } from "../../shared/money/payments/record.ts";
import { findPresentCard } from "../../shared/money/prices/cost.ts";
import { rateCardCache } from "../../shared/money/prices/current.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { suppressEmail } from "../../shared/notices/emails/suppression-record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import {
  carrierMetricNames,
  metricNames,
  writeMetrics,
  type CarrierMetricName,
  type MetricName,
} from "../../shared/platform/metrics.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import {
  putItem,
  updateItem,
  updateOf,
  putUnchecked,
  putOf,
  deleteItem,
} from "../../shared/platform/table/write.ts";
import { alarmsOf, metricsOfAlarm, type MetricIdentity } from "../support/alarms.ts";
import { call, Customer } from "../support/api.ts";
import { writeSlot } from "../support/arrivals.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { inOrder } from "../support/carriers.ts";
import { isBy, loseRequest } from "../support/faults.ts";
import { runSchedule, reconcile } from "../support/functions.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { putSent, sentMessage } from "../support/message-records.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { card, checkout, sendForm, stripeClient } from "../support/stripe.ts";
import { openWallet } from "../support/wallets.ts";
import { wholeTemplate } from "../support/whole-template.ts";

/*
 * An alarm on a metric that no function writes never fires. These tests cause each counted event, and compare the
 * written metrics with those that the alarms of the same stack watch.
 */

const { gateway, faults, log } = await gatewayOfFile();
const { assemblyFolder, stackName } = inject("assembly");
const template = wholeTemplate(assemblyFolder, stackName);

afterEach(() => {
  vi.restoreAllMocks();
});

const MetricsLine = z.looseObject({
  _aws: z.strictObject({
    Timestamp: z.int(),
    CloudWatchMetrics: z.array(
      z.strictObject({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.strictObject({ Name: z.string(), Unit: z.string() })),
      }),
    ),
  }),
});

/** The metrics that CloudWatch extracts from lines in the embedded metric format, with their values. */
function metricsIn(lines: readonly string[]): (MetricIdentity & { readonly value: unknown })[] {
  return lines.flatMap((line) => {
    if (!line.startsWith('{"_aws"')) return [];
    const { _aws, ...members } = MetricsLine.parse(JSON.parse(line));
    return _aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
      Dimensions.flatMap((names) =>
        Metrics.map(({ Name }) => ({
          namespace: Namespace,
          name: Name,
          dimensions: Object.fromEntries(names.map((name) => [name, members[name]])),
          value: members[Name],
        })),
      ),
    );
  });
}

async function customerWithMoney(): Promise<Customer> {
  return Customer.register({ balance: 1, baseUrl: gateway.url });
}

async function send(to: string): Promise<void> {
  await (await customerWithMoney()).send({ to });
}

/** Lets the carrier return nothing for the next messages. */
async function silenceCarrier(): Promise<void> {
  const isByCarrier = isBy("SendMessage");
  faults.next((request) => isByCarrier(request) && request.body.includes("SANDBOX#"), loseRequest, 100);
  await send("15005550000");
}

/** Makes a debit whose function died before it recorded its messages. */
async function loseDebit(): Promise<void> {
  const { organizationId } = await customerWithMoney();
  await debitWallet({
    organizationId,
    charges: [{ amountMicros: 7_900 }],
    at: new Date(),
    keepAccepted: async () => undefined,
  });
  await reconcile(gateway);
}

/** Lets a carrier fail until its circuit breaker opens, and then accept the one probe message. */
async function breakAndMend(carrier: string): Promise<void> {
  vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
  const breakers = new Breakers();
  for (let failures = 1; failures <= 5; failures += 1) await breakers.note(carrier, "failed");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  const admission = await breakers.admit(carrier);
  await breakers.note(carrier, "worked", admission.isAdmitted ? admission.probe : undefined);
  vi.useRealTimers();
  writeMetrics();
}

/** Submits a message to a carrier with an outcome that the sandbox never has. */
async function submit(answer: SubmitResult, isDisabled = false): Promise<void> {
  vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
  const organizationId = await openWallet(1_000_000);
  const text = { message: "hello", senderId: "ACME", language: "English" } as const;
  const { id: messageId } = await acceptMessage(organizationId, { ...text, to: "15005550000" });
  const carrier: Carrier = { idempotent: false, send: async () => answer };
  await submitMessage({ organizationId, messageId }, inOrder([{ name: "sandbox", carrier, isDisabled }]));
  writeMetrics();
}

/** Lets the watch judge a carrier with some figures. */
async function judge(...figures: Parameters<typeof writeSlot>[2][]): Promise<void> {
  const carrier = `judged-${log.length}`;
  for (const [index, each] of figures.entries()) {
    await writeSlot(new Date(), { carrier, country: ["GB", "FR"][index] ?? "DE" }, each);
  }
  await runSchedule(gateway, "WatchCarriers");
}

/**
 * Metrics without an alarm. A closed circuit breaker is good news, and a suppressed email protects the account's reputation.
 * No template knows the carriers, so the watch judges their figures.
 */
const notWatched: ReadonlySet<CarrierMetricName | MetricName> = new Set([
  "CarrierBreakersClosed",
  "SuppressedEmails",
  ...carrierMetricNames,
]);

const causes: Readonly<Record<CarrierMetricName | MetricName, () => Promise<void>>> = {
  FailingCarriers: async () => judge({ failed: 20 }),
  LateCarriers: async () => judge({ accepted: 20, late: 20 }),
  LowDeliveryRates: async () => judge({ accepted: 20, undelivered: 20 }),
  MissingReceipts: async () => judge({ accepted: 100, delivered: 95, received5: 95 }, { accepted: 30 }),
  ThrottlingCarriers: async () => judge({ throttled: 20 }),
  CarrierDelivered: async () => send("15005550007"),
  CarrierUndelivered: async () => send("15005550008"),
  CarrierAccepted: async () => send("15005550000"),
  CarrierInvalidDestinations: async () => send("15005550001"),
  CarrierThrottled: async () => send("15005550003"),
  CarrierRejected: async () => send("15005550006"),
  CarrierOutcomeUnknown: silenceCarrier,
  UrgentMessages: async () => send("15005550000"),
  OverdueMessages: async () => {
    vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
    const late = { queuedAt: "2031-03-01T12:00:00.000Z", sentAt: "2031-03-01T12:00:10.001Z", carrier: "aws" };
    await countSent([sentMessage(newId("org"), late)]);
    writeMetrics();
  },
  CarrierUnreachable: async () => submit({ outcome: "unreachable", reason: "ECONNREFUSED" }),
  CarrierBuffered: async () => submit({ outcome: "accepted", isBuffered: true }),
  MessagesWithoutCarrier: async () => submit({ outcome: "accepted" }, true),
  CarrierBreakersClosed: async () => breakAndMend(new Date().toISOString()),
  CarrierBreakersOpened: async () => breakAndMend(new Date().toISOString()),
  DiscardedInboundMessages: async () => {
    vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
    await assignNumber({ number: "12025550190", organizationId: newId("org"), carrier: "hx" });
    await receiveInboundMessage(
      replyOf({ from: "447700900123", to: "12025550190", message: "STOP", carrier: "hy" }),
    );
    writeMetrics();
  },
  UnappliedKeywords: async () => {
    vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
    await assignNumber({ number: "12025550191", organizationId: newId("org") });
    await receiveInboundMessage(replyOf({ from: "ACME", to: "12025550191", message: "STOP" }));
    writeMetrics();
  },
  UnreadableCallbacks: callUnreadably,
  CarrierUnreadableCallbacks: callUnreadably,
  EdgeReached: async () => runSchedule(gateway, "CheckEdge"),
  FailedJobs: async () => {
    faults.next(isBy("SendMessage", "dynamodb:UpdateItem"), loseRequest, 20);
    await send("15005550000");
  },
  FailedLogins: async () => {
    const { email } = await customerWithMoney();
    await call("/v1/auth/login", { baseUrl: gateway.url, json: { email, password: "not the password" } });
  },
  FailedReconciliations: async () => {
    await send("15005550000");
    faults.next(isBy("ReconcileWallets", "dynamodb:GetItem"), loseRequest, 1_000);
    await reconcile(gateway);
  },
  InconsistentLedgers: async () => {
    const customer = await customerWithMoney();
    await customer.send();
    await updateItem(
      z.unknown(),
      updateOf(keyOfEntry(customer.organizationId, 2), { set: { amountMicros: 5 } }),
    );
    await reconcile(gateway);
  },
  FailedPriceReads: async () => {
    vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
    vi.spyOn(config, "tableName").mockReturnValue("nothing-here");
    rateCardCache.clear();
    expect(await findPresentCard()).toBeUndefined();
    writeMetrics();
  },
  RefundedMicros: loseDebit,
  RequeuedMessages: async () => {
    const { organizationId } = await customerWithMoney();
    // Its job goes to a queue of this file, which no function of the gateway reads.
    const text = { message: "hello", senderId: "ACME", language: "English" } as const;
    await acceptMessage(organizationId, { ...text, to: "15005550000" });
    await reconcile(gateway);
  },
  VoidedDebits: loseDebit,
  FailedPayments: async () => {
    const { organizationId } = await customerWithMoney();
    const billing = await readBilling(organizationId);
    const fields = { organizationId, method: "card", origin: "checkout", amountMicros: 10_000_000 } as const;
    const payment = { ...newPayment({ ...fields, billing }), providerSessionId: "cs_unknown" };
    await putItem(paymentPut({ ...payment, visitAt: new Date(0).toISOString() }));
    await runSchedule(gateway, "VisitPayments");
  },
  PaymentDifferences: async () => {
    // A payment that the operator requested at the provider itself.
    const { url } = await stripeClient(gateway.stripe?.url ?? "").checkout.sessions.create(checkout);
    await sendForm(url ?? "", card);
    await runSchedule(gateway, "ComparePayments");
  },
  SuppressedEmails: async () => {
    const { email } = await customerWithMoney();
    await suppressEmail(email, "bounce", new Date().toISOString());
    await call("/v1/auth/password-reset/request", { baseUrl: gateway.url, json: { email } });
  },
  UnusualSpend: async () => {
    await putSent((await customerWithMoney()).organizationId, 60);
    gateway.advanceClock(2 * minuteMs);
    await runSchedule(gateway, "WatchSpending");
  },
  UnreadableRecords: async () => {
    const customer = await customerWithMoney();
    await putItem(
      putUnchecked(keys.template(customer.organizationId, "tpl_1"), { entity: "from another time" }),
    );
    await customer.call("/v1/templates");
  },
};

/** Calls as a carrier whose call cannot be read. */
async function callUnreadably(): Promise<void> {
  vi.spyOn(process.stdout, "write").mockImplementation((line) => log.push(String(line)) > 0);
  const name = "unreadable";
  const at = new Date().toISOString();
  const callbackTokenHash = createHash("sha256").update("token").digest("hex");
  const settings = CarrierSettings.parse({ kind: "kannel", url: "http://127.0.0.1" });
  const record = {
    entity: "carrier",
    name,
    settings,
    callbackTokenHash,
    createdAt: at,
    updatedAt: at,
  } as const;
  await putItem(putOf(keys.carrier(name), record));
  const query = { token: "token", from: "07700900123", to: "12025550191", text: "STOP" };
  const received = { params: { carrier: name, callback: "inbound" }, query, callbacks: [query] } as const;
  const others = { method: "GET", path: "/", queryString: "", headers: {} };
  await expect(callbackReceiver()({ ...received, ...others })).rejects.toThrow("cannot be read");
  await deleteItem(keys.carrier(name));
  writeMetrics();
}

describe("the metric that the alarms watch is written when the event occurs", () => {
  it.each([...metricNames, ...carrierMetricNames])("%s", async (name) => {
    log.length = 0;
    await causes[name]();
    const written = await vi.waitFor(() => {
      const found = metricsIn(log).find((each) => each.name === name && Number(each.value) > 0);
      if (found === undefined) throw new Error(`${name} has not been written`);
      return found;
    }, patience);
    const { value, ...identity } = written;
    expect(Number.isInteger(value)).toBe(true);
    const watched = alarmsOf(template)
      .flatMap(metricsOfAlarm)
      .filter((each) => each.name === name);
    expect(watched.length > 0).toBe(!notWatched.has(name));
    for (const each of watched) expect(each).toEqual(identity);
    const isOfCarrier = carrierMetricNames.some((each) => each === name);
    const carrier = name === "CarrierUnreadableCallbacks" ? "unreadable" : "sandbox";
    expect(identity.dimensions).toEqual({ stage: "local", ...(isOfCarrier ? { carrier } : {}) });
  });
});

it("no alarm watches a metric of ours that is not written", () => {
  const ours = alarmsOf(template)
    .flatMap(metricsOfAlarm)
    .filter(({ namespace }) => !namespace.startsWith("AWS/"))
    .map(({ name }) => name)
    .filter((name) => !metricNames.some((each) => each === name));
  // It is counted from the access log.
  expect(ours).toEqual(["ThrottledRequests"]);
});
