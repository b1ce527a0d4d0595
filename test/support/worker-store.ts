import { inject } from "vitest";

import { DataServices } from "../../infra/local/data-services.ts";
import type { LocalPort } from "../../shared/platform/aws/local-port.ts";

/*
 * A local store for all test files of a worker. The code under test asks it through a port, as functions do: a request
 * costs a fifth of a signed HTTP request. The AWS client reads the port when it is loaded, so this comes first.
 */

/** Modules are loaded again for each file; the store stays. */
const place: { [key: symbol]: Promise<DataServices> | undefined } & object = globalThis;
const storeKey = Symbol.for("sms-gateway.worker-store");

export const workerStore = await (place[storeKey] ??= start());

async function start(): Promise<DataServices> {
  const store = await DataServices.start();
  const port: LocalPort = {
    // Also where `DYNAMODB_ENDPOINT` names another DynamoDB: then that one is asked.
    services: new Set(["dynamodb", "sqs"]),
    send: async (service, ...request) => store.send(service === "sqs" ? "sqs" : "dynamodb", ...request),
  };
  Object.assign(globalThis, { [Symbol.for("sms-gateway.aws-port")]: port });
  const { name: TableName, ...properties } = inject("table");
  await store.request("dynamodb", "CreateTable", {
    TableName,
    ...properties,
    BillingMode: "PAY_PER_REQUEST",
  });
  return store;
}
