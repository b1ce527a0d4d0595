import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { bundleFunctions } from "../../infra/build/bundle.ts";
import { startLocalGateway } from "../../infra/local/gateway.ts";
import { localAssembly } from "../../infra/local/synthesize.ts";
import { GatewayStack } from "../../infra/stack/gateway-stack.ts";
import { forThisMachine, stageNamed, stagesFolder, type Stage } from "../../infra/stack/stages/stage.ts";
import { Customer } from "../support/api.ts";
import { payByCard } from "../support/payments.ts";
import { testApp } from "../support/test-app.ts";

const { payments } = stageNamed("local");

/** All stages of the repository, and those without cards also with them. */
const stages = readdirSync(stagesFolder())
  .filter((file) => file.endsWith(".json"))
  .flatMap((file): Stage[] => {
    const stage = stageNamed(path.basename(file, ".json"));
    return stage.payments.cards === "none"
      ? [stage, { ...stage, name: `${stage.name}-cards`, payments }]
      : [stage];
  });

it.each(stages)("$name starts on this machine, and customers pay by card if it has cards", async (stage) => {
  const { stackName } = localAssembly;
  const assemblyFolder = `.build/test-stage-${stage.name}.out`;
  const app = testApp(assemblyFolder);
  await bundleFunctions();
  new GatewayStack(app, stackName, forThisMachine(stage));
  app.synth();
  const log: string[] = [];
  const gateway = await startLocalGateway({
    assemblyFolder,
    stackName,
    port: 0,
    log: (line) => log.push(line),
    runsSchedules: false,
  });
  onTestFinished(async () => {
    await gateway.stop();
    await rm(assemblyFolder, { recursive: true });
  });
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { methods } = await customer.client.getBilling();
  expect(methods.includes("card")).toBe(stage.payments.cards !== "none");
  if (methods.includes("card")) await payByCard(customer, 20);
  expect(await customer.balance()).toBe(methods.includes("card") ? 20 : 0);
  expect(log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});
