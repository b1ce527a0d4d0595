import { beforeEach, expect, it, vi } from "vitest";

import { newMessage } from "../../shared/messages/accept/new-message.ts";
import { countReceipts, CountsRecord, type RecordedReceipt } from "../../shared/messages/counts/counts.ts";
import { finalDeliveries, MessageRecord, type FinalDelivery } from "../../shared/messages/message/record.ts";
import { acquire, markSent } from "../../shared/messages/message/transitions.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { EventJob } from "../../shared/notices/event-job.ts";
import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { SendMessageCommand, Sqs } from "../../shared/platform/aws/sqs.ts";
import { dayOf } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { newLease } from "../../shared/platform/table/lease.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey, oneShard } from "../../shared/platform/table/shards.ts";
import { putItem, updateItem, putOf } from "../../shared/platform/table/write.ts";
import { between, oneOf, randomFrom } from "../chaos/random.ts";
import { MemoryTable } from "../model/memory-table.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { onePrice } from "../support/prices.ts";
import { isNightly } from "../support/second-opinions.ts";

const organizationId = "org_01J00000000000000000000000";
const campaignId = "cmp_01J00000000000000000000000";
const queuedAt = new Date("2026-03-01T10:00:00.000Z");

let table: MemoryTable;
let events: EventJob[];
const askTable = vi.fn<(command: object) => Promise<unknown>>(async (command) => table.carryOut(command));
const queueEvent = vi.fn<(command: object) => Promise<void>>(async (command) => {
  if (!(command instanceof SendMessageCommand)) throw new Error("only events are queued, one by one");
  events.push(EventJob.parse(JSON.parse(command.input.MessageBody ?? "")));
});
Object.defineProperty(DynamoDb.prototype, "send", { value: askTable });
Object.defineProperty(Sqs.prototype, "send", { value: queueEvent, configurable: true });

beforeEach(() => {
  table = new MemoryTable();
  events = [];
  vi.stubEnv(environmentNames.tableName, "memory");
  vi.stubEnv(environmentNames.queueUrl.webhookDeliveries, "https://queues/webhook-deliveries");
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});

/** A message that is held by a sender which has asked a carrier. */
async function asked(carrier: string): Promise<MessageRecord & { readonly carrier: string }> {
  const message = {
    ...newMessage(
      { organizationId, ...oneShard },
      { to: "15005550000", message: "hello", senderId: "ACME", language: "English", campaignId },
      { queuedAt, prices: onePrice },
    ),
    carrier,
  };
  await putItem(putOf(messageKey(message), message));
  return message;
}

async function markAsSent(message: MessageRecord): Promise<void> {
  const lease = newLease(queuedAt, 60_000);
  const held = await updateItem(MessageRecord, acquire(messageKey(message), { lease, at: queuedAt }));
  if (!held.applied) throw new Error("the message is held by another");
  const sent = await updateItem(
    MessageRecord,
    markSent(held.item, queuedAt, { carrierReference: "reference" }),
  );
  expect(sent.applied).toBe(true);
}

interface Planned {
  readonly message: MessageRecord & { readonly carrier: string };
  readonly carrier: string;
  readonly status: FinalDelivery;
  readonly at: string;
}

/** The size of the random traffic. */
const [messageCount, receiptCount] = isNightly ? [1_000, 10_000] : [200, 2_000];

it(`${receiptCount} receipts, doubled and in any order, leave each message in its strongest status`, async () => {
  const seed = Date.now() % 2 ** 32;
  const random = randomFrom(seed);
  const note = `seed ${seed}`;
  const messages = await Promise.all(
    Array.from({ length: messageCount }, async () => asked(oneOf(random, ["kannel", "twilio"]))),
  );
  const planned: Planned[] = [];
  while (planned.length < receiptCount) {
    const message = oneOf(random, messages);
    const receipt = {
      message,
      // Now and then a carrier speaks that was asked before another one took the message.
      carrier: random() < 0.1 ? "former" : message.carrier,
      status: oneOf(random, finalDeliveries),
      at: new Date(queuedAt.getTime() + between(random, 1, 8 * 24 * 3_600_000)).toISOString(),
    };
    for (let copies = between(random, 1, 3); copies > 0; copies -= 1) planned.push(receipt);
  }
  planned.length = receiptCount;
  const shuffled = planned
    .map((receipt) => ({ receipt, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ receipt }) => receipt);
  const heard: RecordedReceipt[] = [];
  const unsent = [...messages];
  while (shuffled.length > 0) {
    const batch = shuffled.splice(0, between(random, 1, 10));
    const [results] = await Promise.all([
      Promise.all(
        batch.map(async ({ message: { id: messageId }, carrier, status, at }) =>
          recordDeliveryReceipt({ organizationId, messageId, carrier, status, at }),
        ),
      ),
      // The senders write meanwhile that they have sent: before the first receipt, between them, or after the last.
      Promise.all(random() < 0.6 ? unsent.splice(0, 1).map(markAsSent) : []),
    ]);
    await countReceipts(results.filter((result) => result !== undefined));
    heard.push(...results.filter((result) => result !== undefined));
  }
  for (const message of unsent) await markAsSent(message);

  const expected = messages.map((message) => {
    const words = planned.filter(
      (receipt) => receipt.message === message && receipt.carrier === message.carrier,
    );
    return finalDeliveries.findLast((word) => words.some(({ status }) => status === word));
  });
  const found = await Promise.all(
    messages.map(async (message) => findItem(MessageRecord, messageKey(message), { consistent: true })),
  );
  expect(
    found.map((message) => message?.deliveryStatus),
    note,
  ).toEqual(expected);
  expect(
    found.every((message) => message?.status === "sent"),
    note,
  ).toBe(true);

  const count = (word: FinalDelivery): number => expected.filter((each) => each === word).length;
  const counts = { delivered: count("delivered"), undelivered: count("undelivered") };
  for (const key of [
    dayShardOf(organizationId, dayOf(queuedAt.toISOString())).counter,
    keys.campaignCounts(organizationId, campaignId),
  ]) {
    expect(await findItem(CountsRecord, key), note).toMatchObject(counts);
  }
  // A word that was overtaken has had its event too; however often a receipt came, its event is one.
  const ids = Map.groupBy(events, ({ event }) => `${event.event} ${event.data.id}`);
  expect([...ids.values()].filter((each) => new Set(each.map(({ eventId }) => eventId)).size > 1)).toEqual(
    [],
  );
  const told = [...ids.keys()].filter((each) => each.startsWith("message.delivered "));
  expect(told.length, note).toBe(counts.delivered);
  expect(heard.length, note).toBeLessThan(planned.length / 2);
});

it("a receipt takes one write, and a repeat none", async () => {
  const message = await asked("kannel");
  const { id: messageId } = message;
  const receipt = { organizationId, messageId, carrier: "kannel", status: "delivered" } as const;
  const writes = (): number => askTable.mock.calls.length;
  const before = writes();
  await recordDeliveryReceipt({ ...receipt, at: "2026-03-01T10:01:00.000Z" });
  expect(writes()).toBe(before + 1);
  const stored = JSON.stringify(table.all());
  expect(await recordDeliveryReceipt({ ...receipt, at: "2026-03-08T10:01:00.000Z" })).toBeUndefined();
  expect(
    await recordDeliveryReceipt({ ...receipt, status: "undelivered", at: "2026-03-08T10:01:00.000Z" }),
  ).toBeUndefined();
  expect(JSON.stringify(table.all())).toBe(stored);
  expect(writes()).toBe(before + 3);
  expect(events.map(({ eventId }) => eventId)).toEqual([events[0]?.eventId, events[0]?.eventId]);
});

it("a receipt whose event cannot be queued counts once, and its repeat sends the event", async () => {
  const { id: messageId } = await asked("kannel");
  const receipt = {
    organizationId,
    messageId,
    carrier: "kannel",
    status: "undelivered",
    errorCode: "DELIVERY_EXPIRED",
    at: "2026-03-01T10:01:00.000Z",
  } as const;
  queueEvent.mockRejectedValueOnce(new Error("the queue is down"));
  await expect(recordDeliveryReceipt(receipt)).rejects.toThrow("the queue is down");
  expect(await recordDeliveryReceipt(receipt)).toBeUndefined();
  const counted = await findItem(CountsRecord, keys.campaignCounts(organizationId, campaignId));
  expect(counted).toMatchObject({ undelivered: 1, delivered: 0 });
  expect(events).toMatchObject([
    { event: { event: "message.undelivered", data: { id: messageId, errorCode: "DELIVERY_EXPIRED" } } },
  ]);
});

it("a receipt for a missing message creates no message", async () => {
  const receipt = { status: "delivered", at: "2026-03-01T10:01:00.000Z" } as const;
  const messageId = "msg_01J00000000000000000000000";
  expect(await recordDeliveryReceipt({ organizationId, messageId, ...receipt })).toBeUndefined();
  expect(table.all()).toEqual([]);
  expect(events).toEqual([]);
});

it("a receipt whose write was applied without a response is recognized, and counts once", async () => {
  const { id: messageId } = await asked("kannel");
  const receipt = { organizationId, messageId, carrier: "kannel", status: "delivered" } as const;
  const write = askTable.getMockImplementation();
  askTable.mockImplementationOnce(async (command) => {
    await write?.(command);
    // The SDK sends it again.
    return write?.(command);
  });
  const at = "2026-03-01T10:01:00.000Z";
  expect(await recordDeliveryReceipt({ ...receipt, at })).toMatchObject({
    message: { deliveryStatus: "delivered" },
  });
  // The queue brings the same job again.
  expect(await recordDeliveryReceipt({ ...receipt, at })).toBeUndefined();
});
