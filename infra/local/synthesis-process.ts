import { bundleFunctions } from "@sms-gateway/build/bundle.ts";

import { localAssembly } from "./synthesize.ts";

// The process that `synthesizeLocalStack` runs.

// Without the waiting process, another one may already write to the same folders.
process.stdin.once("end", () => process.exit(1)).resume();
process.stdin.unref();

const { assemblyFolder, stackName } = localAssembly;
const bundling = bundleFunctions();
// The CDK loads while the bundler, which is another process, works.
const [{ App }, { GatewayStack }, { forThisMachine, stageNamed }] = await Promise.all([
  import("aws-cdk-lib"),
  import("@sms-gateway/stack/gateway-stack.ts"),
  import("@sms-gateway/stack/stages/stage.ts"),
]);
await bundling;
const app = new App({
  outdir: assemblyFolder,
  analyticsReporting: false,
  treeMetadata: false,
  // CloudFormation's rules would take more than half of the time; `npm run synth` checks them.
  builtinCloudFormationValidation: false,
});
new GatewayStack(app, stackName, forThisMachine(stageNamed(process.argv[2] ?? "local")));
app.synth();
