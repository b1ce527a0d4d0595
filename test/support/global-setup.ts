import { rm } from "node:fs/promises";

import type { TestProject } from "vitest/node";

import { startLocalGateway } from "../../infra/local/gateway.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import type { StackDefinition } from "../../infra/local/template.ts";
import { withCheapPasswords } from "./cheap-passwords.ts";

/** The gateway that tests share. Each test uses its own organization. */
declare module "vitest" {
  interface ProvidedContext {
    baseUrl: string;
    mailboxUrl: string;
    assembly: { assemblyFolder: string; stackName: string };
    dynamodbEndpoint: string;
    sqsEndpoint: string;
    table: StackDefinition["table"];
  }
}

/** Starts one gateway for the whole run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const assembly = await withCheapPasswords(await synthesizeLocalStack());
  const gateway = await startLocalGateway({
    ...assembly,
    port: 0,
    log: (line) => {
      if (process.env["GATEWAY_LOG"] !== undefined) process.stdout.write(`${line}\n`);
    },
  });
  project.provide("baseUrl", gateway.url);
  project.provide("mailboxUrl", gateway.mailboxUrl);
  project.provide("assembly", assembly);
  project.provide("dynamodbEndpoint", gateway.dynamodbEndpoint);
  project.provide("sqsEndpoint", gateway.sqsEndpoint);
  project.provide("table", gateway.stack.table);
  return async () => {
    await gateway.stop();
    await rm(assembly.assemblyFolder, { recursive: true });
  };
}
