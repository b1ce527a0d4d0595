import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

import { StackOutput } from "../constructs/stack-outputs.ts";

/**
 * The credentials that everything on this machine reaches the data with. A plain DynamoDB Local keeps a database for
 * each access key.
 */
export const localCredentials = { accessKeyId: "local", secretAccessKey: "local" };

/** How tools that run beside the gateway, such as the operator's, reach its data. */
const Connections = z.object({
  dynamodb: z.string(),
  sqs: z.string(),
  secretsManager: z.string(),
  stackName: z.string(),
  outputs: z.readonly(z.array(StackOutput)),
});
type Connections = z.infer<typeof Connections>;

const fileName = "connections.json";

/** Notes how to reach a running gateway in its data folder. */
export async function writeConnections(dataFolder: string, connections: Connections): Promise<void> {
  await writeFile(path.join(dataFolder, fileName), JSON.stringify(connections));
}

/**
 * How to reach the gateway that runs, or ran last, on a data folder.
 * @throws Error when none has run there
 */
export async function readConnections(dataFolder: string): Promise<Connections> {
  const file = path.join(dataFolder, fileName);
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`No gateway has run here (${file} is missing): npm start`, { cause: error });
  });
  return Connections.parse(JSON.parse(content));
}
