import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { StackOutput } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import * as z from "zod/mini";

/** The region in the ARNs and requests of this machine. */
export const localRegion = "us-east-1";

/** The only credentials for the data on this machine: a plain DynamoDB Local keeps a database for each access key. */
export const localCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/**
 * The addresses by which other programs, such as the operator's commands, reach the gateway's data. Each run has new ones,
 * which are secrets of those who may read the file.
 */
const Connections = z.object({
  /** The API. A gateway of an earlier release did not write it, nor the mailbox. */
  url: z.optional(z.string()),
  /** The page of the sent emails. With `.json` at its end, they come as JSON. */
  mailbox: z.optional(z.string()),
  dynamodb: z.string(),
  /** The endpoint of secrets, documents and queues. */
  aws: z.string(),
  /** Absent if payments go to Stripe itself. */
  stripe: z.optional(z.string()),
  stackName: z.string(),
  outputs: z.readonly(z.array(StackOutput)),
});
type Connections = z.infer<typeof Connections>;

export const connectionsFile = "connections.json";

/** Writes the addresses of a running gateway into its data folder. */
export async function writeConnections(dataFolder: string, connections: Connections): Promise<void> {
  // The commands of earlier releases look for the address under these names.
  const earlier = { sqs: connections.aws, secretsManager: connections.aws };
  const content = JSON.stringify({ ...connections, ...earlier });
  await writeFile(path.join(dataFolder, connectionsFile), content, { mode: 0o600 });
}

/**
 * Reads the addresses of the gateway that runs, or ran last, on a data folder.
 * @throws Error when none has run there
 */
export async function readConnections(dataFolder: string): Promise<Connections> {
  const file = path.join(dataFolder, connectionsFile);
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`No gateway has run here (${file} is missing): npm start`, { cause: error });
  });
  return Connections.parse(JSON.parse(content));
}

/**
 * Finds the addresses of the gateway that runs, or ran last, on a data folder. Returns undefined without a file, and for one
 * that a crash has cut or another release has written: a start replaces it.
 */
export async function findConnections(dataFolder: string): Promise<Connections | undefined> {
  return readConnections(dataFolder).catch(() => undefined);
}
