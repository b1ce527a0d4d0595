import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { InvokeCommand, LambdaClient, paginateListFunctions } from "@aws-sdk/client-lambda";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { operator, rowsOf, until } from "./stage-commands.ts";

/* The watch over carriers on the stage `open`, with a carrier that never delivers one country and rejects another one. */

/** The prefixes of numbers that are routed to the carrier, and the digits after them. */
const numbers = { GB: "4479118", FR: "3361299", LU: "35262199" } as const;
const digits = { GB: 5, FR: 4, LU: 4 } as const;
let customer: Customer;
let carrier: HttpCarrier;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const [accepts, rejects] = [says(200, "{}"), says(422)];
  carrier = await HttpCarrier.start((response, request, body) =>
    (body.includes(numbers.LU) ? rejects : accepts)(response, request, body),
  );
  const settings = carrier.settings({
    body: { to: "{to}", text: "{text}", callback: "{callbackUrl}" },
    receipts: { statusPath: "status", delivered: ["yes"], undelivered: ["no"] },
  });
  for (const [name, each] of Object.entries({ watched: settings, sandbox: { kind: "sandbox" } })) {
    const file = path.join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(each));
    await operator("open", "carriers", "set", name, "--settings", file);
  }
  // Other tests send to other numbers meanwhile.
  await operator("open", "routes", "set", "default", "--carriers", "sandbox");
  for (const prefix of Object.values(numbers)) {
    await operator("open", "routes", "set", prefix, "--carriers", "watched");
  }
  customer = await (await Customer.register({ balance: 100 })).withApiKey();
});
afterAll(async () => {
  for (const prefix of Object.values(numbers)) await operator("open", "routes", "remove", prefix);
  await operator("open", "routes", "remove", "default");
  await carrier.stop();
  await rm(folder, { recursive: true });
});

const Submitted = z.object({ to: z.string(), callback: z.string() });

/** Sends messages, and then reports on each as the carrier does. */
async function send(country: keyof typeof numbers, count: number, status?: "no" | "yes"): Promise<void> {
  const reachCarrier = (): z.infer<typeof Submitted>[] =>
    carrier.asked
      .map(({ body }) => Submitted.parse(JSON.parse(body)))
      .filter(({ to }) => to.startsWith(numbers[country]));
  const before = reachCarrier().length;
  let ids: string[] = [];
  let sent = 0;
  await until("the carrier has all messages", async () => {
    const found = await Promise.all(ids.map(async (id) => customer.message(id)));
    if (found.some((message) => message.status === "queued")) return false;
    // A function that knows the routes of half a minute ago has given some to the other carrier.
    const missing = before + count - reachCarrier().length;
    ids = [];
    for (; ids.length < missing; sent += 1) {
      const to = numbers[country] + String(before + sent).padStart(digits[country], "0");
      ids.push((await customer.send({ to })).id);
    }
    return missing <= 0;
  });
  if (status === undefined) return;
  for (const { callback } of reachCarrier().slice(before)) {
    const headers = { "content-type": "application/json" };
    await fetch(callback, { method: "POST", headers, body: JSON.stringify({ status }) });
  }
}

/** Calls the watch as its schedule does. @returns the last lines of its log */
async function watch(): Promise<string> {
  const client = new LambdaClient();
  for await (const { Functions = [] } of paginateListFunctions({ client }, {})) {
    const { FunctionName } =
      Functions.find((each) => /open-WatchCarriers/.test(each.FunctionName ?? "")) ?? {};
    if (FunctionName === undefined) continue;
    const { LogResult = "" } = await client.send(
      new InvokeCommand({ FunctionName, Payload: "{}", LogType: "Tail" }),
    );
    return Buffer.from(LogResult, "base64").toString();
  }
  throw new Error("there is no function WatchCarriers");
}

it("a country that is accepted and never delivered, and a small one that is rejected, have findings", async () => {
  // Functions know the routes of half a minute ago.
  await until("the route is known", async () => {
    await customer.send({ to: `${numbers.GB}00000` });
    return carrier.asked.length > 0;
  });
  // Each instance may keep the counts of its last four events, and a busy stage has several.
  await send("GB", 90, "yes");
  await send("FR", 40, "no");
  await send("LU", 26);
  // Counts that wait in an instance follow. Until they do, the whole carrier may have a finding.
  const findings = [
    '"carrier.deliveries_low","carrier":"watched","country":"FR"',
    '"carrier.failing","carrier":"watched","country":"LU"',
    '"LowDeliveryRates":1',
  ];
  await until("both have findings", async () => {
    const log = await watch();
    return findings.every((finding) => log.includes(finding));
  });
  const Row = z.object({ carrier: z.string(), country: z.string(), delivered: z.int() });
  const rows = await rowsOf(Row, "open", "deliveries", "--by", "carrier,country", "--hours", "1");
  expect(rows).toContainEqual({ carrier: "watched", country: "FR", delivered: 0 });
});
