import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Lets a server listen on the loopback address; port 0 takes any free one.
 * @returns the port
 * @throws Error when the port is taken
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no address");
  return address.port;
}

/** A port of the loopback address that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Waits until something takes connections on a port of the loopback address.
 * @throws Error when nothing does in time
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
    if (Date.now() > deadline) throw new Error(`nothing answers on port ${port}`);
    await delay(10);
  }
}
