import { createServer as createHttpServer } from "node:http";
import { createServer, type Socket } from "node:net";

import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { Customer, password } from "../support/api.ts";
import { linkIn } from "../support/emails.ts";

/*
 * A hostile customer, and then an honest one with as many requests, beside a customer whose requests and webhooks are timed. Both
 * run in turns, so that whatever else the machine does slows both. All functions and the store share the machine's cores, unlike in
 * AWS. So the batches and imports are smaller than the largest that the API accepts.
 */

/** The rounds of each neighbor, the timed requests in a round, and the neighbor's requests beside each. */
const [rounds, requests, beside] = [4, 20, 3];
const most = 3;

/** Times below this differ by chance, in milliseconds. */
const noiseMs = 25;

let customer: Customer;
let hostile: Customer;
let honest: Customer;

/** When the webhook of each message was called, which may be before the response to its send. */
const arrivals = new Map<string, PromiseWithResolvers<number>>();
function arrivalOf(id: string): PromiseWithResolvers<number> {
  const arrival = arrivals.get(id) ?? Promise.withResolvers<number>();
  arrivals.set(id, arrival);
  return arrival;
}
const receiver = createHttpServer((request, response) => {
  request.setEncoding("utf8").on("data", (body: string) => {
    const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(body));
    arrivalOf(data.id).resolve(performance.now());
    response.end();
  });
});
const hanging = new Set<Socket>();
let mostHanging = 0;
const silent = createServer((socket) => {
  hanging.add(socket);
  mostHanging = Math.max(mostHanging, hanging.size);
  socket.on("error", () => undefined).on("close", () => hanging.delete(socket));
  socket.resume();
});
let silentPort: number;
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(receiver)}/`;
  silentPort = await listenOnLoopback(silent, 0, "0.0.0.0");
  customer = await Customer.register({ balance: 50 });
  hostile = await Customer.register({ balance: 500 });
  honest = await Customer.register({ balance: 500 });
  await customer.call("/v1/webhooks", { json: { url, events: ["message.sent"] } });
  const contacts = Array.from({ length: 500 }, (_, index) => ({
    phoneNumber: String(447_700_100_000 + index),
    tags: index < 5 ? ["many", "few"] : ["many"],
  }));
  for (const { client, email } of [hostile, honest]) {
    await client.importContacts({ body: { contacts } });
    const [, token = ""] = (await linkIn(email, "Verify your email")).split("#verify=");
    await client.verifyEmail({ body: { token, password } });
  }
});

afterAll(() => {
  receiver.close();
  silent.close();
  for (const socket of hanging) socket.destroy();
});

/** A request of a customer, for its number. */
type Act = (neighbor: Customer, count: number) => Promise<unknown>;

/** Sends a batch whose events go to a host for each message. */
const callbacks =
  (hostOf: (count: number) => string): Act =>
  async (neighbor, count) => {
    const messages = Array.from({ length: 10 }, (_, index) => ({
      to: "15005550000",
      message: "hello",
      senderId: "ACME",
      callbackUrl: hostOf(count * 10 + index),
    }));
    await neighbor.call("/v1/sms/batch", { json: { messages } });
  };

const profile =
  (brand: string): Act =>
  async (neighbor) =>
    neighbor.call("/v1/verification-profiles/default", { method: "PUT", json: { brand } });

const get =
  (path: string): Act =>
  async (neighbor) =>
    neighbor.call(path);

/** Sends a batch, in one of twelve requests. The local gateway delivers in order, without the fair queues of AWS. */
const batches =
  (size: number): Act =>
  async (neighbor, count) => {
    if (count % 12 !== 0) return neighbor.call("/v1/wallet");
    const message = { to: "15005550000", message: "hello", senderId: "ACME" };
    const messages = Array.from({ length: size }, () => message);
    return neighbor.client.sendBatch({ body: { messages } });
  };

/** Imports contacts that exist after the first round. */
const imports =
  (size: number): Act =>
  async ({ client }, count) => {
    const contacts = Array.from({ length: size }, (_, index) => ({
      phoneNumber: String(447_700_000_000 + count * size + index),
    }));
    return client.importContacts({ body: { contacts } });
  };

/** Launches a campaign to all contacts with a tag, in one of thirty requests. */
const campaigns =
  (tag: string): Act =>
  async ({ client }, count) => {
    if (count % 30 !== 0) return client.getWallet();
    const body = { name: tag, message: "hello", senderId: "ACME", audience: { tags: [tag] } };
    const { id } = await client.createCampaign({ body });
    return client.launchCampaign({ params: { id } });
  };

interface Times {
  readonly request: number[];
  readonly webhook: number[];
}

/** Times the customer's requests and first webhook calls beside a neighbor's requests. */
async function time(act: Act, neighbor: Customer, first: number, { request, webhook }: Times): Promise<void> {
  for (let count = first; count < first + requests; count += 1) {
    const others = Array.from({ length: beside }, async (_, index) => act(neighbor, count * beside + index));
    const beganAtMs = performance.now();
    await customer.client.getWallet();
    request.push(performance.now() - beganAtMs);
    const sentAtMs = performance.now();
    const { id } = await customer.send();
    webhook.push((await arrivalOf(id).promise) - sentAtMs);
    await Promise.all(others);
  }
}

/** Returns the time that nineteen of twenty do not exceed, or nearly as little as two can differ by. */
function p95(times: readonly number[]): number {
  return Math.max(noiseMs, times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? 0);
}

it.each<[name: string, bad: Act, good: Act]>([
  ["sends texts whose check could take seconds", profile(`${"a".repeat(60_000)}\n`), profile("Acme")],
  [
    "names a host that hangs for each event",
    callbacks((count) => `http://127.1.${count >> 8}.${count & 255}:${silentPort}/`),
    callbacks(() => url),
  ],
  [
    "begins exports all the time",
    async (neighbor) => neighbor.call("/v1/exports", { json: { messages: {} } }),
    get("/v1/sms"),
  ],
  ["searches all messages for a text that none has", get("/v1/sms?search=nowhere&limit=100"), get("/v1/sms")],
  ["imports many contacts in each request", imports(100), imports(10)],
  ["sends many messages in a request", batches(100), batches(10)],
  ["launches campaigns to many", campaigns("many"), campaigns("few")],
  [
    "invites people all the time",
    async (neighbor, count) =>
      neighbor.call("/v1/members", { json: { email: `${count}@example.com`, role: "viewer" } }),
    get("/v1/members"),
  ],
])(
  "beside a customer who %s, others have at most three times the usual latency",
  async (_name, bad, good) => {
    const badTimes: Times = { request: [], webhook: [] };
    const goodTimes: Times = { request: [], webhook: [] };
    for (let round = 0; round < rounds; round += 1) {
      await time(good, honest, round * requests, goodTimes);
      await time(bad, hostile, round * requests, badTimes);
    }
    expect(p95(badTimes.request)).toBeLessThan(most * p95(goodTimes.request));
    expect(p95(badTimes.webhook)).toBeLessThan(most * p95(goodTimes.webhook));
    // An organization holds at most 40 of the 200 workers, and of the 100 on this machine.
    expect(mostHanging).toBeLessThanOrEqual(40);
  },
);
