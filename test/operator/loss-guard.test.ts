import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import type { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { objectsIn, operator, outputOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * Prices below the costs of carriers, on a gateway with two carriers: setting them, and the effect on messages. Each
 * test continues the one before.
 */

const operated = useOperatedGateway();
const { fileOf } = operated;
let customer: Customer;
let alpha: HttpCarrier;
let beta: HttpCarrier;

const takes = says(200, JSON.stringify({ id: "carrier-1" }));
const refuses = says(422, "{}");

beforeAll(async () => {
  [alpha, beta] = await Promise.all([HttpCarrier.start(takes), HttpCarrier.start(takes)]);
  for (const [name, carrier] of Object.entries({ alpha, beta })) {
    await outputOf(`carriers set ${name} --settings ${await fileOf(carrier.settings())}`);
  }
  customer = await (await operated.register({ balance: 10 })).withApiKey();
});
afterAll(async () => Promise.all([alpha.stop(), beta.stop()]));
beforeEach(() => {
  for (const carrier of [alpha, beta]) {
    carrier.asked.length = 0;
    carrier.answer = takes;
  }
});

/** The command that imports a rate card with one price. */
async function importOf(price: string, costs: string): Promise<string> {
  return `prices import ${await fileOf(`prefix,country,price,cost:alpha,cost:beta\n44,GB,${price},${costs}\n`)}`;
}

/** Runs a command that must be rejected for its losses. @returns the table of losses */
async function lossesOf(line: string, count: string, margin = ""): Promise<string> {
  const { code, out, err } = await operator(line);
  const summary = `${count} below the cost of a carrier of the route${margin}. Use --allow-loss to accept them.`;
  expect([code, err]).toEqual([1, `Nothing was changed: ${summary}\n`]);
  return out;
}

/** Runs a command that must succeed, though prices are a loss. */
async function accept(line: string): Promise<void> {
  const { code, err } = await operator(`${line} --allow-loss`);
  expect([code, err]).toEqual([0, expect.stringContaining("below the cost of a carrier of the route")]);
}

/** Sends a message a minute after the last change. @returns its state and its carrier */
async function send(): Promise<unknown[]> {
  operated.gateway.advanceClock(minuteMs);
  const { id } = await customer.send({ to: "447700900123" });
  const { status, errorCode } = await vi.waitFor(async () => {
    const message = await customer.message(id);
    expect(message.status).not.toBe("queued");
    return message;
  }, patience);
  return [errorCode ?? status, alpha.asked.length, beta.asked.length];
}

it("an import is compared with each carrier of its route, and rejected if one costs more", async () => {
  await outputOf("routes set default --carriers alpha,beta");
  const line = await importOf("0.05", "0.04,0.09");
  for (const more of ["", "--dry-run"]) {
    const losses = await lossesOf(`${line} ${more}`, "1 price is");
    expect(losses).toMatch(/^44 +any +all +now +0\.05 +beta +0\.09 +-80%$/m);
  }
  expect(await findCurrentVersion()).toBeUndefined();
  const [, loss] = objectsIn(await lossesOf(`${line} --json`, "1 price is"), z.unknown());
  expect(loss).toMatchObject({ prefix: "44", carrier: "beta", priceMicros: 50_000, costMicros: 90_000 });
  await accept(line);
});

it("no message fails over to a carrier that costs more than the customer pays", async () => {
  expect(await send()).toEqual(["sent", 1, 0]);
  const balance = await customer.balance();
  alpha.answer = refuses;
  expect(await send()).toEqual(["MESSAGE_PROVIDER_ERROR", 2, 0]);
  await vi.waitFor(async () => expect(await customer.balance()).toBe(balance), patience);
  // A price that covers the cost allows it.
  await outputOf(`prices set-override ${customer.email} 44 0.09`);
  expect(await send()).toEqual(["sent", 3, 1]);
  await outputOf(`prices remove-override ${customer.email} 44`);
});

it("an organization's own price is compared with the carriers as well", async () => {
  const { email, organizationId } = customer;
  await outputOf("routes set default --carriers alpha");
  const override = `prices set-override ${email} 4477`;
  expect(await lossesOf(`${override} 0.03`, "1 price is")).toMatch(
    new RegExp(`^4477 +any +${organizationId} +now +0\\.03 +alpha +0\\.04 +-33\\.3%$`, "m"),
  );
  await outputOf(`${override} 0.04`);
  const file = await fileOf("prefix,price\n44,0.01\n");
  await lossesOf(`prices import ${file} --organization ${organizationId}`, "1 price is");
  // An accepted loss does not block another price.
  await accept(`${override} 0.03`);
  await outputOf(`prices set-override ${email} 4420 0.04`);
  await outputOf(`${override} 0.04`);
});

it("costs that cause a loss at an organization's price are rejected, but not for an existing loss", async () => {
  const line = await importOf("0.05", "0.045,0.05");
  expect(await lossesOf(line, "2 prices are")).toMatch(
    new RegExp(`^4420 +any +${customer.organizationId} +now +0\\.04 +alpha +0\\.045`, "m"),
  );
  await accept(line);
  await outputOf(await importOf("0.06", "0.045,0.05"));
});

it("a route is compared with the prices of its numbers, when it is set and when it is removed", async () => {
  await outputOf(await importOf("0.06", "0.01,0.07"));
  const set = "routes set 447 --carriers beta,alpha --type otp";
  expect(await lossesOf(set, "2 prices are")).toMatch(/^447 +otp +all +now +0\.06 +beta +0\.07 +-16\.7%$/m);
  await accept(set);
  // It is a loss already, and the change adds no carrier.
  await outputOf(set);

  await accept("routes set default --carriers beta");
  await outputOf("routes set 44 --carriers alpha");
  await lossesOf("routes remove 44", "4 prices are");
  await accept("routes remove 44");
  await lossesOf("prices restore 1", "4 prices are");
});

it("a stage's minimum margin is required, and a missing cost is reported", async () => {
  const connections = path.join(operated.dataFolder, "connections.json");
  const { outputs, ...rest } = JSON.parse(await readFile(connections, "utf8"));
  const minimumMargin = { name: outputNames.minimumMargin, value: "0.2" };
  await writeFile(connections, JSON.stringify({ ...rest, outputs: [...outputs, minimumMargin] }));
  await operator("routes set default --carriers alpha");
  await operator("routes remove 447 --type otp");
  await lossesOf(await importOf("0.05", "0.041,"), "3 prices are", " plus the minimum margin of 20%");
  for (const prefix of ["4477", "4420"]) {
    await outputOf(`prices remove-override ${customer.email} ${prefix}`);
  }
  await outputOf(await importOf("0.05", "0.04,"));
  const unknown = await operator(await importOf("0.05", ",0.01"));
  expect(unknown).toMatchObject({ code: 0, err: "Warning: the cost of alpha is unknown for 44.\n" });
});
