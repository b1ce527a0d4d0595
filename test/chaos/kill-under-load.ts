import { setTimeout as delay } from "node:timers/promises";

import { readConnections } from "../../infra/local/connections.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import type { KilledGateway } from "./killed-gateway.ts";
import { between, type Random } from "./random.ts";
import type { Traffic } from "./traffic.ts";

/** The limits of a random kill: the number of accepted sends before it, and the delay after them. */
const maxAcceptedBeforeKill = 100;
const maxDelayMs = 30;

/** Configures the project's own code to use the table of the gateway that runs on a folder. */
export async function useTableOf(folder: string): Promise<void> {
  const { dynamodb, outputs } = await readConnections(folder);
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = dynamodb;
  process.env[environmentNames.tableName] = outputs.find(({ name }) => name === outputNames.tableName)?.value;
}

/** Kills a gateway a moment after a random number of accepted sends, during others. */
export async function killUnderLoad(traffic: Traffic, gateway: KilledGateway, random: Random): Promise<void> {
  const accepted = between(random, 1, maxAcceptedBeforeKill);
  let isOver = false;
  let count = 0;
  const enough = Promise.withResolvers<void>();
  const load = traffic.sendKeyed(
    () => isOver,
    () => {
      count += 1;
      if (count === accepted) enough.resolve();
    },
  );
  // The test must not wait after the load has failed.
  await Promise.race([enough.promise, load]);
  await delay(random() * maxDelayMs);
  isOver = true;
  await gateway.kill();
  await load;
}
