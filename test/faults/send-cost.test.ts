import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { Meter } from "../benchmarks/meter.ts";
import { Customer } from "../support/api.ts";

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

it("the life of a message takes at most nine requests, six write units and 2.5 read units, without its carrier", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { secret: credential } = await customer.createApiKey();
  const json = { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" };
  const send = async (): Promise<void> => {
    expect((await customer.call("/v1/sms/send", { json, credential })).status).toBe(202);
    await meter.settle();
  };
  // The functions read the carriers, the prices and the key into their caches.
  await send();
  await send();
  meter.take();
  await send();
  const { byFunction } = meter.take();
  const [accept, deliver] = ["SendSms", "SendMessage"].map(
    (name) => [...byFunction].find(([functionName]) => functionName.includes(name))?.[1],
  );
  // The key, the wallet, the message and its ledger entry, and the queue. The organization is read once a second.
  const { tableRequests, readUnits } = accept ?? {};
  expect(accept).toMatchObject({ queueRequests: 1, writeUnits: 3 });
  expect([
    { tableRequests: 4, readUnits: 1 },
    { tableRequests: 5, readUnits: 1.5 },
  ]).toContainEqual({ tableRequests, readUnits });
  // The organization, the lease, the outcome and the day's counter. Lambda calls SQS for a whole batch.
  expect(deliver).toMatchObject({ tableRequests: 4, queueRequests: 2, writeUnits: 3, readUnits: 1 });
});
