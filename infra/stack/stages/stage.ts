import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { projectRoot } from "@sms-gateway/build/project-root.ts";
import type * as z from "zod/mini";

import { validate } from "../../../shared/api/contract/validation.ts";
import { invalidFile, parseJson } from "../operator-file.ts";
import { ConsistentSettings } from "./consistent-settings.ts";
import type { StageSettings } from "./settings.ts";

/** A stage: the settings of its file, and the file's name. */
export interface Stage extends z.infer<typeof StageSettings> {
  readonly name: string;
}

/** Returns the callbacks of one carrier that a stage lets through in a second: from one address, with a firewall. */
export function carrierCallbacksPerSecond({ throttle, firewall }: Stage): number {
  const { rateLimit } = throttle.carriers;
  return Math.min(rateLimit, (firewall?.carrierRequestsPerAddressPer5Minutes ?? Infinity) / 300);
}

/**
 * Reads the settings of a stage from `<name>.json` in this folder, or in the one that the environment variable
 * `STAGES_FOLDER` names.
 * @throws Error that names the file, and each field or place that is wrong
 */
export function stageNamed(name: string): Stage {
  const folder = stagesFolder();
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.replace(/\.json$/, ""));
  if (!names.includes(name)) {
    throw new Error(
      `there is no stage ${name}, only ${names.toSorted().join(", ")}: see infra/stack/stages/README.md`,
    );
  }
  const file = path.join(folder, `${name}.json`);
  const wrong = (problems: readonly string[]): Error => invalidFile(file, problems);
  // The name becomes part of the names of AWS resources.
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(name)) {
    throw wrong(["its name must be 1 to 20 lower-case letters, digits and hyphens, and begin with a letter"]);
  }
  const settings = validate(ConsistentSettings, parseJson(readFileSync(file), file), "setting");
  if (!settings.success) {
    throw wrong(settings.details.map((detail) => `${detail.path || "the file"}: ${detail.message}`));
  }
  return { ...settings.data, name };
}

/** Returns the folder with the files of all stages. */
export function stagesFolder(): string {
  return path.resolve(projectRoot, process.env["STAGES_FOLDER"] ?? "infra/stack/stages");
}

/** The carrier of every stage on this machine. */
export const localCarrier = "sandbox";

/** Returns a stage without the settings that need AWS. All its rules also hold on this machine. */
export function forThisMachine(stage: Stage): Stage {
  const onlyInAws = {
    account: undefined,
    region: undefined,
    domain: undefined,
    firewall: undefined,
    adoptTableName: undefined,
    adoptWebhookKeyArn: undefined,
    adoptSecondFactorKeyArn: undefined,
    encryptionKeyArn: undefined,
    backups: undefined,
    warmThroughput: undefined,
  };
  // The local gateway has no configuration sets.
  const email = stage.email && { ...stage.email, configurationSet: undefined };
  return { ...stage, ...onlyInAws, email, carrier: localCarrier, keepData: false, gradualDeployment: false };
}
