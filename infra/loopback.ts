import { once } from "node:events";
import type { Server } from "node:net";

/**
 * Lets a server listen on the loopback address; port 0 means any free one.
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
