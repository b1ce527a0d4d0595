import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { buildOnce } from "../build-once.ts";
import { projectRoot } from "../project-root.ts";

const folder = "local.out";

/** Where the stack of a stage is once it is synthesized for this machine, as `startLocalGateway` takes it. */
export const localAssembly = {
  assemblyFolder: path.join(projectRoot, ".build", folder),
  stackName: "sms-gateway-local",
};

/**
 * Bundles the functions and synthesizes a stage as it can run on this machine. The bundler and the CDK take more memory than the whole
 * gateway, so they run in a process of their own that ends with its work. What was made of the same sources is kept.
 * @param stage the name of the stage
 * @throws Error with what that process wrote, when a function cannot be bundled or the stack is not right
 */
export async function synthesizeLocalStack(stage = "local"): Promise<typeof localAssembly> {
  const file = fileURLToPath(new URL("synthesis-process.ts", import.meta.url));
  await buildOnce(folder, stage, async () => {
    const { stderr } = await promisify(execFile)(process.execPath, [file, stage]);
    process.stderr.write(stderr);
  });
  return localAssembly;
}
