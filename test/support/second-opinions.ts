import { readdirSync } from "node:fs";
import path from "node:path";

import { projectRoot } from "../../infra/build/project-root.ts";

/*
 * All tests of the endpoints run on the local gateway in each run. MiniStack and Amazon's DynamoDB Local are second opinions
 * on it. They run the files whose tests are the most likely to end differently there, and all files where `NIGHTLY` is set.
 */

const folder = "test/endpoints";

/** Whether this is the nightly run, which also compares with other programs. */
export const isNightly = (process.env["NIGHTLY"] ?? "") !== "";

const filesOfEachRun = {
  /** Tests of features that only a deployed stage has: API Gateway's routes and encoding of bodies, event sources, and calls to customers. */
  miniStack: ["carrier-callbacks", "console", "docs", "methods", "webhook-deliveries"],
  /** Conditions and transactions that race each other, which the random comparison does not do. */
  dynamodbLocal: ["idempotency", "wallet"],
} as const;

/** A file whose own code queues jobs, which a deployed stage does not allow. */
export const notOnStages = "conversations.test.ts";

/**
 * The endpoint tests that a second opinion runs, from the project's root.
 * @throws Error when a file is named that does not exist
 */
export function endpointTestsOf(opinion: keyof typeof filesOfEachRun): string[] {
  const all = readdirSync(path.join(projectRoot, folder)).filter((file) => file.endsWith(".test.ts"));
  const ofEachRun = filesOfEachRun[opinion].map((name) => `${name}.test.ts`);
  const missing = ofEachRun.filter((file) => !all.includes(file));
  if (missing.length > 0) throw new Error(`${folder} has no ${missing.join(", ")}`);
  const chosen = isNightly
    ? all.filter((file) => opinion !== "miniStack" || file !== notOnStages)
    : ofEachRun;
  return chosen.map((file) => `${folder}/${file}`);
}
