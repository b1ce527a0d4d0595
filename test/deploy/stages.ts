import path from "node:path";

import { projectRoot } from "../../infra/build/project-root.ts";
import { workFolder } from "./emulator.ts";
import { mustRun, run, type Ended } from "./program.ts";

const program = path.join(projectRoot, "node_modules/aws-cdk/bin/cdk");
const quiet = ["--no-notices", "--no-color"];

/** Runs a command of the CDK as one does who is not at a terminal. */
export async function runCdk(args: readonly string[]): Promise<Ended> {
  return run(process.execPath, [program, ...quiet, ...args]);
}

/**
 * The same for a command that must succeed.
 * @throws Error with its output
 */
export async function mustRunCdk(args: readonly string[]): Promise<Ended> {
  return mustRun(process.execPath, [program, ...quiet, ...args]);
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
 * @param options.replaces a resource that the deployment may delete or replace
 * @param options.preload a module that changes the stack
 */
export async function deploy(
  stage: string,
  {
    folder = projectRoot,
    validates = false,
    replaces,
    preload,
  }: { folder?: string; validates?: boolean; replaces?: string; preload?: URL } = {},
): Promise<void> {
  const options = ["-c", `stage=${stage}`, "--output", assemblyOf(stage), ...quiet];
  const args = ["--run", "deploy", "--", ...options];
  // A stage that kept its data has also kept its log groups.
  args.push("--import-existing-resources");
  if (replaces !== undefined) args.push("--allow-replacement", replaces);
  const preloaded = preload === undefined ? {} : { NODE_OPTIONS: `--import ${preload.href}` };
  const surroundings = { folder, environment: { CDK_VALIDATION: String(validates), ...preloaded } };
  const ended = await run(process.execPath, args, surroundings);
  if (ended.code === 0) return;
  // The emulator sometimes fails to update nested stacks side by side, and then rolls back.
  const isFaultOfEmulator = ended.out.includes(raceOfEmulator) || ended.err.includes(raceOfEmulator);
  if (!isFaultOfEmulator) throw new Error(`the deployment of ${stage} failed:\n${ended.out}\n${ended.err}`);
  await mustRun(process.execPath, args, surroundings);
}

/** The error of Python when one thread changes a dictionary that another one reads. */
const raceOfEmulator = "dictionary changed size during iteration";
