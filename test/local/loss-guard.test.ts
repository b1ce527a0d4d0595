import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * Prices below the costs of carriers, on a gateway with two carriers: setting them, and the effect on messages. Each
 * test continues the one before.
 */

let gateway: LocalGateway;
let dataFolder: string;
let stop: () => Promise<void>;
let customer: Customer;
let alpha: HttpCarrier;
let beta: HttpCarrier;

const takes = says(200, JSON.stringify({ id: "carrier-1" }));
const refuses = says(422, "{}");

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
  [alpha, beta] = await Promise.all([HttpCarrier.start(takes), HttpCarrier.start(takes)]);
  for (const [name, carrier] of Object.entries({ alpha, beta })) {
    const settings = {
      kind: "http",
      url: `${carrier.url}/messages`,
      body: { to: "{to}", text: "{text}" },
      responses: [
        { meaning: "accepted", statuses: [200] },
        { meaning: "rejected", statuses: [422] },
      ],
      referencePath: "id",
    };
    const file = await fileOf(JSON.stringify(settings));
    await operator(["carriers", "set", name, "--settings", file]);
  }
  customer = await (await Customer.register({ baseUrl: gateway.url, balance: 10 })).withApiKey();
});
afterAll(async () => {
  await Promise.all([alpha.stop(), beta.stop()]);
  await stop();
});
beforeEach(() => {
  for (const carrier of [alpha, beta]) {
    carrier.asked.length = 0;
    carrier.answer = takes;
  }
});

async function fileOf(content: string): Promise<string> {
  const file = path.join(dataFolder, "file");
  await writeFile(file, content);
  return file;
}

/** A rate card with one price. */
async function rates(price: string, costs: string): Promise<string> {
  return fileOf(`prefix,country,price,cost:alpha,cost:beta\n44,GB,${price},${costs}\n`);
}

/** Sends a message a minute after the last change. @returns its state and its carrier */
async function send(): Promise<unknown[]> {
  gateway.advanceClock(minuteMs);
  const { id } = await customer.send({ to: "447700900123" });
  const { status, errorCode } = await vi.waitFor(async () => {
    const message = await customer.message(id);
    expect(message.status).not.toBe("queued");
    return message;
  }, patience);
  return [errorCode ?? status, alpha.asked.length, beta.asked.length];
}

const rejected = "Nothing was changed: 1 price is below the cost of a carrier of the route.";

it("an import is compared with each carrier of its route, and rejected if one costs more", async () => {
  await operator(["routes", "set", "default", "--carriers", "alpha,beta"]);
  const file = await rates("0.05", "0.04,0.09");
  for (const more of [[], ["--dry-run"]]) {
    const { code, out, err } = await operator(["prices", "import", file, ...more]);
    expect([code, err]).toEqual([1, `${rejected} Use --allow-loss to accept them.\n`]);
    expect(out).toMatch(/^44 +any +all +now +0\.05 +beta +0\.09 +-80%$/m);
  }
  expect(await findCurrentVersion()).toBeUndefined();
  const Loss = z.object({
    prefix: z.string(),
    carrier: z.string(),
    priceMicros: z.int(),
    costMicros: z.int(),
  });
  const { out } = await operator(["prices", "import", file, "--json"]);
  expect(Loss.parse(JSON.parse(out.trimEnd().split("\n").at(-1) ?? ""))).toEqual({
    prefix: "44",
    carrier: "beta",
    priceMicros: 50_000,
    costMicros: 90_000,
  });
  const allowed = await operator(["prices", "import", file, "--allow-loss"]);
  expect(allowed).toMatchObject({ code: 0, err: expect.stringContaining("Warning: 1 price is below") });
});

it("no message fails over to a carrier that costs more than the customer pays", async () => {
  expect(await send()).toEqual(["sent", 1, 0]);
  const balance = await customer.balance();
  alpha.answer = refuses;
  expect(await send()).toEqual(["MESSAGE_PROVIDER_ERROR", 2, 0]);
  await vi.waitFor(async () => expect(await customer.balance()).toBe(balance), patience);
  // A price that covers the cost allows it.
  await operator(["prices", "set-override", customer.email, "44", "0.09"]);
  expect(await send()).toEqual(["sent", 3, 1]);
  await operator(["prices", "remove-override", customer.email, "44"]);
});

it("an organization's own price is compared with the carriers as well", async () => {
  const { email, organizationId } = customer;
  await operator(["routes", "set", "default", "--carriers", "alpha"]);
  const override = async (price: string, ...more: string[]) =>
    operator(["prices", "set-override", email, "4477", price, ...more]);
  const { code, out, err } = await override("0.03");
  expect([code, err]).toEqual([1, `${rejected} Use --allow-loss to accept them.\n`]);
  expect(out).toMatch(
    new RegExp(`^4477 +any +${organizationId} +now +0\\.03 +alpha +0\\.04 +-33\\.3%$`, "m"),
  );
  expect(await override("0.04")).toMatchObject({ code: 0, err: "" });
  const file = await fileOf("prefix,price\n44,0.01\n");
  const imported = await operator(["prices", "import", file, "--organization", organizationId]);
  expect(imported).toMatchObject({ code: 1, err: expect.stringContaining(rejected) });
  // An accepted loss does not block another price.
  expect(await override("0.03", "--allow-loss")).toMatchObject({ code: 0 });
  expect(await operator(["prices", "set-override", email, "4420", "0.04"])).toMatchObject({
    code: 0,
    err: "",
  });
  await override("0.04");
});

it("costs that cause a loss at an organization's price are rejected, but not for an existing loss", async () => {
  const { organizationId } = customer;
  const dearer = await operator(["prices", "import", await rates("0.05", "0.045,0.05")]);
  expect(dearer).toMatchObject({ code: 1, err: expect.stringContaining("2 prices are below") });
  expect(dearer.out).toMatch(new RegExp(`^4420 +any +${organizationId} +now +0\\.04 +alpha +0\\.045`, "m"));
  const same = await operator(["prices", "import", await rates("0.05", "0.045,0.05"), "--allow-loss"]);
  expect(same).toMatchObject({ code: 0 });
  const again = await operator(["prices", "import", await rates("0.06", "0.045,0.05")]);
  expect(again).toMatchObject({ code: 0, err: "" });
});

it("a route is compared with the prices of its numbers, when it is set and when it is removed", async () => {
  expect(await operator(["prices", "import", await rates("0.06", "0.01,0.07")])).toMatchObject({ code: 0 });
  const set = ["routes", "set", "447", "--carriers", "beta,alpha", "--type", "otp"];
  const { code, out, err } = await operator(set);
  expect([code, err]).toEqual([
    1,
    "Nothing was changed: 2 prices are below the cost of a carrier of the route. Use --allow-loss to accept them.\n",
  ]);
  expect(out).toMatch(/^447 +otp +all +now +0\.06 +beta +0\.07 +-16\.7%$/m);
  expect(await operator([...set, "--allow-loss"])).toMatchObject({ code: 0 });
  // It is a loss already, and the change adds no carrier.
  expect(await operator(set)).toMatchObject({ code: 0, err: "" });

  await operator(["routes", "set", "default", "--carriers", "beta", "--allow-loss"]);
  await operator(["routes", "set", "44", "--carriers", "alpha"]);
  const remove = ["routes", "remove", "44"];
  expect(await operator(remove)).toMatchObject({ code: 1, err: expect.stringContaining("are below") });
  expect(await operator([...remove, "--allow-loss"])).toMatchObject({ code: 0 });
  const restore = await operator(["prices", "restore", "1"]);
  expect(restore).toMatchObject({ code: 1, err: expect.stringContaining("Use --allow-loss") });
});

it("a stage's minimum margin is required, and a missing cost is reported", async () => {
  const connections = path.join(dataFolder, "connections.json");
  const { outputs, ...rest } = JSON.parse(await readFile(connections, "utf8"));
  const minimumMargin = { name: outputNames.minimumMargin, value: "0.2" };
  await writeFile(connections, JSON.stringify({ ...rest, outputs: [...outputs, minimumMargin] }));
  await operator(["routes", "set", "default", "--carriers", "alpha"]);
  await operator(["routes", "remove", "447", "--type", "otp"]);
  const { code, err } = await operator(["prices", "import", await rates("0.05", "0.041,")]);
  expect([code, err]).toEqual([
    1,
    "Nothing was changed: 3 prices are below the cost of a carrier of the route plus the minimum margin of 20%. " +
      "Use --allow-loss to accept them.\n",
  ]);
  for (const prefix of ["4477", "4420"]) {
    await operator(["prices", "remove-override", customer.email, prefix]);
  }
  expect(await operator(["prices", "import", await rates("0.05", "0.04,")])).toMatchObject({
    code: 0,
    err: "",
  });
  const unknown = await operator(["prices", "import", await rates("0.05", ",0.01")]);
  expect(unknown).toMatchObject({ code: 0, err: "Warning: the cost of alpha is unknown for 44.\n" });
});
