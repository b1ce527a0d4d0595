import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, inject, it, onTestFinished } from "vitest";
import * as z from "zod/mini";

import { startLocalGateway } from "../../infra/local/gateway.ts";
import { stripeKeysOf } from "../../infra/local/stripe/keys.ts";
import { changedAssembly } from "../support/changed-assembly.ts";
import { checkout, stripeClient } from "../support/stripe.ts";

const Secrets = z.record(
  z.string(),
  z.object({ current: z.string(), versions: z.record(z.string(), z.string()) }),
);

async function storedKeys(dataFolder: string, stackName: string): Promise<unknown> {
  const content = await readFile(path.join(dataFolder, "operator-secrets.json"), "utf8");
  const { current = "", versions = {} } =
    Secrets.parse(JSON.parse(content))[`${stackName}/payments/stripe`] ?? {};
  return JSON.parse(versions[current] ?? "");
}

it("the local gateway has a provider, and functions find its keys", async () => {
  const dataFolder = await mkdtemp(path.join(tmpdir(), "stripe-"));
  onTestFinished(async () => rm(dataFolder, { recursive: true }));
  const { assemblyFolder, stackName } = inject("assembly");
  const start = async (stripeKeys?: { secretKey: string; webhookSecret: string }) =>
    startLocalGateway({ assemblyFolder, stackName, port: 0, dataFolder, stripeKeys, log: () => undefined });
  const gateway = await start();
  const { stripe } = gateway;
  const url = stripe?.url ?? "";
  const keys = await storedKeys(dataFolder, stackName);
  expect(keys).toEqual({
    secretKey: expect.stringMatching(/^sk_test_\w{48}$/),
    webhookSecret: expect.stringMatching(/^whsec_\w{48}$/),
  });
  const { id } = await stripeClient(url).customers.create();
  // Its time is that of the functions.
  const expiring = await stripeClient(url).checkout.sessions.create(checkout);
  gateway.advanceClock(86_400_000);
  expect((await stripeClient(url).checkout.sessions.retrieve(expiring.id)).status).toBe("expired");
  await gateway.stop();
  await expect(fetch(url)).rejects.toThrow("fetch failed");

  const again = await start();
  expect(await storedKeys(dataFolder, stackName)).toEqual(keys);
  expect(again.stripe?.account.objects.find(id)?.object).toBe("customer");
  await again.stop();

  const own = { secretKey: "sk_test_own", webhookSecret: "whsec_own" };
  const connected = await start(own);
  expect(connected.stripe).toBeUndefined();
  expect(await storedKeys(dataFolder, stackName)).toEqual(own);
  await connected.stop();
});

it("functions get the provider's address, unless the keys are those of a real account", async () => {
  const { assemblyFolder, stackName } = await changedAssembly(inject("assembly"), () => undefined);
  onTestFinished(async () => rm(assemblyFolder, { recursive: true }));
  const bundle = "export const handler = async () => process.env.STRIPE_API_URL;";
  for (const entry of await readdir(assemblyFolder, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    // A bundle of its own, because the link leads to that of all tests.
    const folder = path.join(assemblyFolder, entry.name);
    await rm(folder);
    await mkdir(folder);
    await writeFile(path.join(folder, "index.mjs"), bundle);
  }
  for (const stripeKeys of [undefined, { secretKey: "sk_test_1", webhookSecret: "whsec_1" }]) {
    const options = { port: 0, stripeKeys, runsSchedules: false, log: () => undefined };
    const gateway = await startLocalGateway({ assemblyFolder, stackName, ...options });
    const [host] = gateway.functions.values();
    expect(await host?.invoke({})).toBe(gateway.stripe?.url ?? null);
    expect(gateway.stripe === undefined).toBe(stripeKeys !== undefined);
    await gateway.stop();
  }
});

it("the keys of a real account come from the environment, and only those of a test account", () => {
  expect(stripeKeysOf({})).toBeUndefined();
  expect(stripeKeysOf({ STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" })).toEqual({
    secretKey: "sk_test_1",
    webhookSecret: "whsec_1",
  });
  const secrets = [1, 2].map(() => stripeKeysOf({ STRIPE_SECRET_KEY: "rk_test_1" })?.webhookSecret);
  expect(secrets[0]).toMatch(/^whsec_\w{48}$/);
  expect(secrets[1]).not.toBe(secrets[0]);
  expect(() => stripeKeysOf({ STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "" })).toThrow(
    "STRIPE_WEBHOOK_SECRET must begin with whsec_",
  );
  for (const STRIPE_SECRET_KEY of ["sk_live_1", "rk_live_1", "pk_test_1", ""]) {
    expect(() => stripeKeysOf({ STRIPE_SECRET_KEY })).toThrow("must begin with sk_test_");
  }
});
