import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { Meter } from "../benchmarks/meter.ts";
import { Customer } from "../support/api.ts";
import { patience } from "../support/patience.ts";

/*
 * The requests to DynamoDB and SQS in the life of a message. A customer's price follows from these figures, and each
 * request takes CPU in the functions: see `infra/SCALE.md`.
 */

const meter = new Meter();
let gateway: LocalGateway;

beforeAll(async () => {
  const { interceptor, log } = meter;
  gateway = await startLocalGateway({
    ...inject("assembly"),
    port: 0,
    interceptor,
    log,
    runsSchedules: false,
  });
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  await meter.watch(gateway);
});
afterAll(async () => gateway.stop());

/** Enough messages that a sender adds up the figures of several. */
const sentBefore = 40;
const measured = 10;

it("the life of a message takes at most 10.2 requests, 6.2 write and 3 read units, without its carrier", async () => {
  const customer = await Customer.register({ balance: 100, baseUrl: gateway.url });
  const { secret: credential } = await customer.createApiKey();
  const json = { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" };
  const send = async (): Promise<void> => {
    expect((await customer.call("/v1/sms/send", { json, credential })).status).toBe(202);
    await meter.settle();
  };
  // The functions also read the carriers, the prices and the key into their caches.
  await send();
  await Promise.all(Array.from({ length: sentBefore }, send));
  // On a busy machine, caches end meanwhile, and the figures of fewer messages share a write.
  await vi.waitFor(async () => {
    meter.take();
    await send();
    const accept = usageOf("SendSms");
    // The key, the wallet, the message and its ledger entry, and the queue. The organization is read once a second.
    const { tableRequests, readUnits } = accept ?? {};
    expect(accept).toMatchObject({ queueRequests: 1, writeUnits: 3 });
    expect([
      { tableRequests: 4, readUnits: 1 },
      { tableRequests: 5, readUnits: 1.5 },
    ]).toContainEqual({ tableRequests, readUnits });
  }, patience);
  await vi.waitFor(async () => {
    meter.take();
    const startedAt = performance.now();
    for (let sent = 0; sent < measured; sent += 1) await send();
    // On a busy machine this takes longer than a sender keeps the state of carriers, which is its shortest cache.
    const readAgain = Math.floor((performance.now() - startedAt) / 10_000);
    const deliver = usageOf("SendMessage");
    // The organization, the ledger entry, the lease, the outcome and the day's counter, and the figures of five messages in one write. Lambda
    // calls SQS for a whole batch.
    expect(deliver?.queueRequests).toBe(2 * measured);
    expect(deliver?.readUnits).toBeLessThanOrEqual(1.5 * measured + readAgain);
    expect(deliver?.tableRequests).toBeLessThanOrEqual(5.2 * measured + readAgain);
    expect(deliver?.writeUnits).toBeLessThanOrEqual(3.2 * measured);
  }, patience);
});

/** The usage since the last one was taken. */
function usageOf(name: string) {
  return [...meter.take().byFunction].find(([functionName]) => functionName.includes(name))?.[1];
}
