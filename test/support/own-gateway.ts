import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, afterEach, beforeAll, inject } from "vitest";

import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import { Customer } from "./api.ts";
import { assemblyWithVariables } from "./changed-assembly.ts";
import { Faults } from "./faults.ts";

/**
 * Starts a gateway that a test file has for itself, with faults between its functions and AWS. Its scheduled functions
 * run when a test calls them, and never beside it. From then on, the file's own reads go to this
 * gateway's table.
 */
export async function startOwnGateway(
  faults: Faults,
  log: (line: string) => void = () => undefined,
  assembly = inject("assembly"),
): Promise<LocalGateway> {
  const gateway = await startLocalGateway({
    ...assembly,
    port: 0,
    log,
    interceptor: faults.interceptor,
    runsSchedules: false,
  });
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  return gateway;
}

/** The gateway of a test file, with the faults and the lines of the log of the present test. */
interface GatewayOfFile {
  readonly gateway: LocalGateway;
  readonly faults: Faults;
  readonly log: string[];
}

/**
 * Starts a gateway for the calling test file, as `startOwnGateway` does, and stops it after the file's last test. Each test begins
 * without faults and with an empty log.
 * @param variables environment variables that its functions get in addition
 */
export async function gatewayOfFile(
  variables: Readonly<Record<string, string>> = {},
): Promise<GatewayOfFile> {
  const faults = new Faults();
  const log: string[] = [];
  const isChanged = Object.keys(variables).length > 0;
  const assembly = isChanged
    ? await assemblyWithVariables(inject("assembly"), variables)
    : inject("assembly");
  const gateway = await startOwnGateway(faults, (line) => log.push(line), assembly);
  afterEach(() => {
    faults.clear();
    log.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    if (isChanged) await rm(assembly.assemblyFolder, { recursive: true });
  });
  return { gateway, faults, log };
}

/**
 * Starts a gateway that keeps its data in a folder, as it does for `npm start`, where the operator's commands of this
 * process find it. Its scheduled functions run when a test calls them.
 */
export async function startOperatedGateway(
  options: Partial<Pick<LocalGatewayOptions, "interceptor" | "log">> = {},
): Promise<{ gateway: LocalGateway; dataFolder: string; stop: () => Promise<void> }> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const gateway = await startLocalGateway({
    ...inject("assembly"),
    log: () => undefined,
    ...options,
    port: 0,
    dataFolder,
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

/** A gateway with the operator's commands, for the tests of one file. */
export interface OperatedGateway {
  readonly gateway: LocalGateway;
  readonly dataFolder: string;
  readonly register: (options?: { readonly balance?: number }) => Promise<Customer>;
  /** Writes text, or an object as JSON, into a file. @returns its path */
  readonly fileOf: (content: unknown, name?: string) => Promise<string>;
}

/** Starts a gateway for the operator's commands before the tests of a file, and stops it after them. */
export function useOperatedGateway(
  options: Parameters<typeof startOperatedGateway>[0] = {},
): OperatedGateway {
  let started: Awaited<ReturnType<typeof startOperatedGateway>> | undefined;
  const running = () => {
    if (started === undefined) throw new Error("the gateway starts before the first test");
    return started;
  };
  beforeAll(async () => {
    started = await startOperatedGateway(options);
  });
  afterAll(async () => started?.stop());
  return {
    get gateway() {
      return running().gateway;
    },
    get dataFolder() {
      return running().dataFolder;
    },
    fileOf: async (content, name = "file") => {
      const file = path.join(running().dataFolder, name);
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
      return file;
    },
    register: async (of = {}) => Customer.register({ ...of, baseUrl: running().gateway.url }),
  };
}
