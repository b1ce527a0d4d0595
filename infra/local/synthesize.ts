import path from "node:path";

import { App } from "aws-cdk-lib";

import { bundleFunctions } from "../bundle.ts";
import { GatewayStack } from "../gateway-stack.ts";
import { projectRoot } from "../project-root.ts";
import { stageNamed } from "../stages.ts";

/**
 * Bundles the functions and synthesizes the local stage, in this process.
 * @returns where the stack is, as `startLocalGateway` takes it
 */
export async function synthesizeLocalStack(): Promise<{ assemblyFolder: string; stackName: string }> {
  await bundleFunctions();
  const assemblyFolder = path.join(projectRoot, ".build/local.out");
  const stackName = "sms-gateway-local";
  const app = new App({ outdir: assemblyFolder, analyticsReporting: false });
  new GatewayStack(app, stackName, stageNamed("local"));
  app.synth();
  return { assemblyFolder, stackName };
}
