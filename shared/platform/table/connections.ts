import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

import { now, secondMs } from "../clock.ts";

/*
 * The connections to DynamoDB, which all of a function's clients share. Lambda freezes a function between two calls, and
 * a connection that is kept meanwhile may be dead when it goes on. Whoever sends into a dead connection does not know
 * whether the request arrived.
 */

/** A connection that was idle for less than this is taken to be alive: DynamoDB keeps them for longer. */
const maxIdleMs = 2 * secondMs;

/** A function on a laptop serves its calls side by side, as many as come. */
const options = { keepAlive: true, maxSockets: 100 };

/** Which of the two is used depends on the endpoint. */
export const agents = { httpAgent: new HttpAgent(options), httpsAgent: new HttpsAgent(options) };

/** When each connection was last given back, in milliseconds since the epoch. */
const idleSinceMs = new WeakMap<object, number>();
for (const agent of Object.values(agents)) {
  agent.on("free", (socket: object) => idleSinceMs.set(socket, now().getTime()));
}

/** Lets go of connections that may be dead, before a request that must not be sent twice. */
export function dropDeadConnections(): void {
  const aliveSinceMs = now().getTime() - maxIdleMs;
  for (const { freeSockets } of Object.values(agents)) {
    for (const socket of Object.values(freeSockets).flatMap((sockets = []) => sockets)) {
      if ((idleSinceMs.get(socket) ?? 0) < aliveSinceMs) socket.destroy();
    }
  }
}
