import { bundleFunctions } from "@sms-gateway/build/bundle.ts";
import { Annotations, App } from "aws-cdk-lib";

import { concurrencyLimit, fitToAccount } from "./account.ts";
import { checkAdoptedTable } from "./adopted-table.ts";
import { GatewayStack } from "./gateway-stack.ts";
import { exchangeRateWarning } from "./stages/payment-checks.ts";
import { stageNamed, type Stage } from "./stages/stage.ts";

// The entry of the CDK: `cdk deploy -c stage=prod`. Without a stage it is dev.
const app = new App();
const { stage, warnings } = await stageToDeploy(String(app.node.tryGetContext("stage") ?? "dev")).catch(
  (error: unknown) => {
    // The error is about a setting, the account or the table, so a stack trace would not help.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
await bundleFunctions();
const stack = new GatewayStack(app, `sms-gateway-${stage.name}`, stage);
for (const [id, warning] of Object.entries(warnings)) {
  if (warning !== undefined) Annotations.of(stack).addWarningV2(`sms-gateway:${id}`, warning);
}
app.synth();

/**
 * Returns a stage as it fits the account that it is deployed to, with warnings.
 * @throws Error with a message for the operator
 */
async function stageToDeploy(
  name: string,
): Promise<{ stage: Stage; warnings: Readonly<Record<string, string | undefined>> }> {
  const asked = stageNamed(name);
  if (asked.name === "local") {
    throw new Error("The stage local is for a laptop: npm start runs it, and it cannot be deployed.");
  }
  const month = new Date().toISOString().slice(0, "yyyy-mm".length);
  const ofPayments = { "exchange-rate": exchangeRateWarning(asked, month) };
  // The CDK sets this when it has found credentials. Without them the stage can be synthesized only.
  const account = process.env["CDK_DEFAULT_ACCOUNT"];
  if (account === undefined) return { stage: asked, warnings: ofPayments };
  if (asked.account !== undefined && account !== asked.account) {
    throw new Error(
      `Stage ${asked.name} belongs to account ${asked.account}, but the credentials are of account ${account}.`,
    );
  }
  const region = asked.region ?? process.env["CDK_DEFAULT_REGION"];
  const { stage: fitted, warning: concurrency } = fitToAccount(asked, await concurrencyLimit(region));
  const adoptedKeys = await checkAdoptedTable(asked, region);
  return { stage: fitted, warnings: { ...ofPayments, concurrency, "adopted-keys": adoptedKeys } };
}
