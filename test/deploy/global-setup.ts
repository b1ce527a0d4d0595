import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import type { TestProject } from "vitest/node";
import * as z from "zod/mini";

import { projectRoot } from "../../infra/build/project-root.ts";
import { checkOutLastRelease } from "../mixed-versions/last-release.ts";
import { provideStage } from "../support/deployed-stage.ts";
import { startEmulator, workFolder } from "./emulator.ts";
import { deploy, mustRunCdk } from "./stages.ts";

/** Rules under which all tests of the endpoints can do what they do on a laptop, on a stage that is deployed. */
const openStage = {
  carrier: "sandbox",
  prices: "sample",
  keepData: false,
  policies: {
    senderIds: "any",
    kyc: "none",
    verifiedEmail: "none",
    countries: "any",
    numberTypes: "any",
    passwords: "any",
    apiKeysManageKeys: true,
    reauthentication: "none",
  },
  topUpEnabled: true,
  email: { from: "sms@gateway.test" },
  webhookTargets: "any",
  logRetentionDays: 7,
  limits: { requestsPerSecond: "none", unknownCredentialsPerAddressPer5Minutes: "none" },
};

/** The same rules for data that is kept: the tests destroy this stage and deploy it again. */
const keptStage = { ...openStage, keepData: true };

/**
 * Starts an AWS, and deploys to it the stage that the tests of the endpoints run on. The stage `kept` is deployed from the
 * last release.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Both install packages the first time.
  const [emulator, folder] = await Promise.all([startEmulator(), checkOutLastRelease()]);
  try {
    // The account of the person who runs this must not be used.
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
    const stagesFolder = path.join(workFolder, "stages");
    Object.assign(process.env, emulator.environment, { STAGES_FOLDER: stagesFolder });
    await rm(stagesFolder, { recursive: true, force: true });
    await mkdir(stagesFolder, { recursive: true });
    await cp(path.join(projectRoot, "infra/stack/stages"), stagesFolder, { recursive: true });
    // The emulator has no CloudFront whose address could be called.
    const prodFile = path.join(stagesFolder, "prod.json");
    const { firewall: _firewall, ...prod } = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(await readFile(prodFile, "utf8")));
    await writeFile(prodFile, JSON.stringify(prod));
    await writeFile(path.join(stagesFolder, "open.json"), JSON.stringify(openStage));
    await writeFile(path.join(stagesFolder, "kept.json"), JSON.stringify(keptStage));
    await mustRunCdk(["bootstrap"]);
    await Promise.all([deploy("open"), deploy("kept", { folder })]);
    await provideStage(project, "open");
  } catch (error) {
    await emulator.stop();
    throw error;
  }
  return async () => emulator.stop();
}
