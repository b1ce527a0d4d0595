import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** Returns a free port of the loopback address. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Waits until a server accepts connections on a port of the loopback address.
 * @throws Error when none does in time
 */
export async function waitForPort(port: number, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const connected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
    if (Date.now() > deadline) throw new Error(`no server accepts connections on port ${port}`);
    await delay(10);
  }
}
