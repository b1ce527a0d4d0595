import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";

import { afterEach, expect, it } from "vitest";

import { startDynamoDb, startSqs, type Emulator } from "../../infra/local/emulators.ts";

let emulator: Emulator;
afterEach(async () => emulator.stop());

/** Whether something takes a connection there. */
async function isReachable(address: string, port: number): Promise<boolean> {
  const socket = connect(port, address);
  const reached = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return reached;
}

it.each([
  ["DynamoDB", startDynamoDb],
  ["SQS", startSqs],
])("the embedded %s is reached over the loopback address and no other", async (_, start) => {
  emulator = await start(undefined, () => undefined);
  const port = Number(new URL(emulator.endpoint).port);
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const targets = addresses.map(({ address, scopeid = 0 }) =>
    scopeid === 0 ? address : `${address}%${scopeid}`,
  );
  // Linux takes this one to what listens on all interfaces, even on a machine without a network.
  if (process.platform === "linux") targets.push("127.0.0.2");
  const reached: string[] = [];
  for (const target of targets) if (await isReachable(target, port)) reached.push(target);
  expect(reached).toEqual(["127.0.0.1"]);
});
