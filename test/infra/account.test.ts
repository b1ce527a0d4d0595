import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { expect, it } from "vitest";
import * as z from "zod/mini";

import { fitToAccount } from "../../infra/stack/account.ts";
import { stageNamed, type Stage } from "../../infra/stack/stages/stage.ts";
import type { Worker } from "../../infra/stack/worker.ts";
import { workers } from "../../infra/stack/workers.ts";
import { queueNames } from "../../shared/platform/queue-names.ts";

const dev = stageNamed("dev");
const prod = stageNamed("prod");

/** The concurrent batches of all queues together. */
function sumOf({ workerConcurrency }: Stage): number {
  return queueNames.reduce((sum, queue) => sum + (workerConcurrency[queue] ?? Number.NaN), 0);
}

it("does not change a stage that fits the account", () => {
  expect(fitToAccount(prod, 1_000)).toEqual({ stage: prod });
});

it("scales the queues down together, so that requests have the same number of calls", () => {
  const { stage, warning } = fitToAccount(prod, 200);
  expect(sumOf(stage)).toBeLessThanOrEqual(100);
  expect(sumOf(stage)).toBeGreaterThan(90);
  expect(sumOf(fitToAccount(prod, 50).stage)).toBeLessThanOrEqual(25);
  for (const queue of queueNames) expect(stage.workerConcurrency[queue]).toBeGreaterThanOrEqual(2);
  expect(warning).toContain("transactionalSends 11 instead of 50");
  expect(warning).toContain("whose limit is 200 concurrent calls");
});

it("uses the concurrency of a queue that the stage sets", () => {
  const { stage } = fitToAccount({ ...prod, workerConcurrency: { webhookDeliveries: 20 } }, 1_000);
  expect(stage.workerConcurrency).toEqual({ webhookDeliveries: 20 });
});

it("deploys a stage without kept data into the smallest account, and rejects one that keeps data", () => {
  const { stage, warning } = fitToAccount(dev, 10);
  expect(sumOf(stage)).toBe(2 * queueNames.length);
  expect(warning).toContain("request-service-quota-increase");
  expect(() => fitToAccount(prod, 10)).toThrow(
    /^The 12 queues of stage prod need 24 concurrent calls, and only 5 are available in this account, whose limit is 10 /,
  );
});

it("leaves out reservations that leave others less than AWS requires, with the steps for the operator", () => {
  const reserving = { ...prod, reservedConcurrency: { sendSms: 60, reconcileWallets: 41 } };
  const { stage, warning } = fitToAccount(reserving, 200);
  expect(stage.reservedConcurrency).toEqual({});
  expect(warning).toMatch(
    /^No reservedConcurrency: stage prod reserves 101 concurrent calls in this account/,
  );
  expect(warning).toMatch(/Deploy again after the increase.*--desired-value 1000$/);
  expect(fitToAccount(reserving, 1_000).stage.reservedConcurrency).toEqual(reserving.reservedConcurrency);
});

it("keeps the queues of a worker within its reservation", () => {
  const { stage } = fitToAccount({ ...prod, reservedConcurrency: { sendMessage: 30 } }, 1_000);
  expect(stage.workerConcurrency).toMatchObject({ transactionalSends: 24, marketingSends: 5 });
  const tooFew = { ...prod, reservedConcurrency: { sendMessage: 3 } };
  expect(() => fitToAccount(tooFew, 1_000)).toThrow("The 2 queues of sendMessage need 4 concurrent calls");
});

it("knows the worker of every queue", () => {
  const { stage } = fitToAccount(dev, 10);
  const fed = Object.values<Worker>(workers).flatMap(({ queues = {} }) => Object.keys(queues));
  expect(Object.keys(stage.workerConcurrency).toSorted()).toEqual(fed.toSorted());
});

/** Returns the errors of the CDK's entry when it rejects a stage. */
async function refusal(stage: string, settings: Record<string, string>): Promise<string> {
  const args = ["infra/stack/app.ts"];
  const env = { ...process.env, ...settings, CDK_CONTEXT_JSON: JSON.stringify({ stage }) };
  const { stderr } = await promisify(execFile)(process.execPath, args, { env }).then(
    () => Promise.reject(new Error("it was not rejected")),
    (error: unknown) => z.object({ stderr: z.string() }).parse(error),
  );
  return stderr;
}

it("deploys no local stage, and none with the credentials of another account", async () => {
  expect(await refusal("local", {})).toContain("it cannot be deployed");
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-stages-"));
  const { policies } = dev;
  const settings = { carrier: "sandbox", keepData: false, policies, account: "111111111111" };
  await writeFile(path.join(folder, "pinned.json"), JSON.stringify(settings));
  const another = { STAGES_FOLDER: folder, CDK_DEFAULT_ACCOUNT: "222222222222" };
  expect(await refusal("pinned", another)).toContain(
    "Stage pinned belongs to account 111111111111, but the credentials are of account 222222222222.",
  );
  await rm(folder, { recursive: true });
});
