import path from "node:path";

import { projectRoot } from "../../infra/project-root.ts";
import { workFolder } from "./emulator.ts";
import { run, type Ended, type Surroundings } from "./program.ts";

const program = path.join(projectRoot, "node_modules/aws-cdk/bin/cdk");

/** Runs a command of the CDK as one does who is not at a terminal. */
export async function runCdk(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  return run(process.execPath, [program, "--no-notices", "--no-color", ...args], surroundings);
}

/**
 * The same for a command that must succeed.
 * @throws Error with its output
 */
export async function mustRunCdk(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const ended = await runCdk(args, surroundings);
  if (ended.code === 0) return ended;
  throw failureOf(args, ended);
}

function failureOf(args: readonly string[], { out, err }: Ended): Error {
  return new Error(`cdk ${args.join(" ")} failed:\n${out}\n${err}`);
}

/**
 * Where a stage's templates and bundles are once it has been deployed: what comes later for it need not be synthesized
 * again.
 */
export function assemblyOf(stage: string): string {
  return path.join(workFolder, "assemblies", stage);
}

/**
 * Deploys a stage as the README describes.
 * @param options.folder the checkout to deploy from, this one where none is named
 * @param options.validates whether the CDK checks the template with CloudFormation's rules, which takes half of the time.
 *   The stages of this repository are deployed with it; the others differ from them in settings alone.
 */
export async function deploy(
  stage: string,
  { folder, validates = false }: { folder?: string; validates?: boolean } = {},
): Promise<void> {
  const options = ["-c", `stage=${stage}`, "--require-approval", "never", "--output", assemblyOf(stage)];
  // A stage that kept its data has also kept its log groups.
  options.push("--import-existing-resources");
  const args = ["deploy", "--all", ...options];
  const surroundings = {
    ...(folder === undefined ? {} : { folder }),
    environment: {
      CDK_VALIDATION: String(validates),
      ...(folder === undefined ? {} : { STAGES_FOLDER: path.join(folder, "infra/stages") }),
    },
  };
  const ended = await runCdk(args, surroundings);
  // The emulator sometimes fails to update nested stacks side by side, and then rolls back.
  const isFaultOfEmulator = ended.out.includes(raceOfEmulator) || ended.err.includes(raceOfEmulator);
  if (ended.code === 0) return;
  if (!isFaultOfEmulator) throw failureOf(args, ended);
  await mustRunCdk(args, surroundings);
}

/** The error of Python when one thread changes a dictionary that another one reads. */
const raceOfEmulator = "dictionary changed size during iteration";
