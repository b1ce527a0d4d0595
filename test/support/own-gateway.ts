import { inject } from "vitest";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import type { Faults } from "./faults.ts";

/**
 * Starts a gateway that a test file has for itself, with faults between its functions and AWS. Its scheduled functions
 * run when a test calls them, and never beside it. What the file reads with the project's own code comes from this
 * gateway's table from then on.
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
