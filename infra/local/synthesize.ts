import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { buildOnce, digestOf } from "@sms-gateway/build/build-once.ts";
import { projectRoot } from "@sms-gateway/build/project-root.ts";

const folder = "local.out";

/** The location of a stack that is synthesized for this machine, as an option of `startLocalGateway`. */
export const localAssembly = {
  assemblyFolder: path.join(projectRoot, ".build", folder),
  stackName: "sms-gateway-local",
};

/**
 * Bundles the functions and synthesizes a stage for this machine, unless the sources are unchanged. The bundler and the
 * CDK need more memory than the gateway, so they run in a process of their own.
 * @throws Error with the output of that process, when a function cannot be bundled or the stack is invalid
 */
export async function synthesizeLocalStack(stage = "local"): Promise<typeof localAssembly> {
  const file = fileURLToPath(new URL("synthesis-process.ts", import.meta.url));
  await buildOnce(folder, await variantOf(stage), async () => {
    const { stderr } = await promisify(execFile)(process.execPath, [file, stage]);
    process.stderr.write(stderr);
  });
  return localAssembly;
}

/** Returns the inputs besides the sources: the stage and, if the stages are in another folder, all files there. */
export async function variantOf(stage: string): Promise<string> {
  const stagesFolder = process.env["STAGES_FOLDER"];
  if (stagesFolder === undefined) return stage;
  return `${stage} ${await digestOf(["*.*"], path.resolve(projectRoot, stagesFolder))}`;
}
