import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { inject } from "vitest";

import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import type { Faults } from "./faults.ts";

/**
 * Starts a gateway that a test file has for itself, with faults between its functions and AWS. Its scheduled functions
 * run when a test calls them, and never beside it. From then on, the file's own reads go to this
 * gateway's table.
 */
export async function startOwnGateway(
  faults: Faults,
  log: (line: string) => void = () => undefined,
): Promise<LocalGateway> {
  const gateway = await startLocalGateway({
    ...inject("assembly"),
    port: 0,
    log,
    interceptor: faults.interceptor,
    runsSchedules: false,
  });
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  return gateway;
}

/**
 * Starts a gateway that keeps its data in a folder, as it does for `npm start`, where the operator's commands of this
 * process find it. Its scheduled functions run when a test calls them.
 */
export async function startOperatedGateway(
  options: Pick<LocalGatewayOptions, "interceptor"> = {},
): Promise<{ gateway: LocalGateway; dataFolder: string; stop: () => Promise<void> }> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const gateway = await startLocalGateway({
    ...inject("assembly"),
    ...options,
    port: 0,
    dataFolder,
    log: () => undefined,
    runsSchedules: false,
  });
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  process.env["DATA_DIR"] = dataFolder;
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await rm(dataFolder, { recursive: true });
  };
  return { gateway, dataFolder, stop };
}
