import { App } from "aws-cdk-lib";

import { bundleFunctions } from "./bundle.ts";
import { GatewayStack } from "./gateway-stack.ts";
import { stageNamed } from "./stages/stage.ts";

// The entry of the CDK: `cdk deploy -c stage=prod`. Without a stage it is dev.
await bundleFunctions();
const app = new App();
const stage = stageNamed(String(app.node.tryGetContext("stage") ?? "dev"));
if (stage.name === "local") {
  throw new Error(
    "The stage local has the rules of a laptop: npm start runs it, and it is deployed nowhere.",
  );
}
new GatewayStack(app, `sms-gateway-${stage.name}`, stage);
app.synth();
