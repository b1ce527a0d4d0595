import { Annotations, App } from "aws-cdk-lib";

import { concurrencyLimit, fitToAccount, type FittedStage } from "./account.ts";
import { checkAdoptedTable } from "./adopted-table.ts";
import { bundleFunctions } from "./bundle.ts";
import { GatewayStack } from "./gateway-stack.ts";
import { stageNamed } from "./stages/stage.ts";

// The entry of the CDK: `cdk deploy -c stage=prod`. Without a stage it is dev.
const app = new App();
const stage = stageNamed(String(app.node.tryGetContext("stage") ?? "dev"));
if (stage.name === "local") {
  throw new Error(
    "The stage local has the rules of a laptop: npm start runs it, and it is deployed nowhere.",
  );
}

// The CDK says whose credentials it has found. Without any there is nothing to fit the stage to, and nothing to deploy.
const account = process.env["CDK_DEFAULT_ACCOUNT"];
if (account !== undefined && stage.account !== undefined && account !== stage.account) {
  throw new Error(
    `Stage ${stage.name} belongs to account ${stage.account}, and these are credentials of ${account}.`,
  );
}
const region = stage.region ?? process.env["CDK_DEFAULT_REGION"];
const fitted: FittedStage =
  account === undefined ? { stage } : fitToAccount(stage, await concurrencyLimit(region));
const adoption = account === undefined ? undefined : await checkAdoptedTable(stage, region);

await bundleFunctions();
const stack = new GatewayStack(app, `sms-gateway-${stage.name}`, fitted.stage);
if (fitted.warning !== undefined) {
  Annotations.of(stack).addWarningV2("sms-gateway:concurrency", fitted.warning);
}
if (adoption !== undefined) Annotations.of(stack).addWarningV2("sms-gateway:adopted-keys", adoption);
app.synth();
