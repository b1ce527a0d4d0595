import type { Agent as HttpAgent, AgentOptions } from "node:http";

import { now, secondMs } from "../clock.ts";

/*
 * The connections to AWS. Lambda freezes a function between two calls, and a connection that is kept meanwhile may be dead
 * when it goes on. Who sends into a dead connection does not know whether the request arrived.
 */

/** A connection that was idle for less than this is taken to be alive: AWS keeps them for longer. */
const maxIdleMs = 2 * secondMs;

/** A function on a laptop serves its calls side by side, as many as come. */
const options = { keepAlive: true, maxSockets: 100 };

const agents: HttpAgent[] = [];

/** When each connection was last given back, in milliseconds since the epoch. */
const idleSinceMs = new WeakMap<object, number>();

/** An agent that keeps its connections. */
export function keepingAgent(Agent: new (options: AgentOptions) => HttpAgent): HttpAgent {
  const agent = new Agent(options);
  agent.on("free", (socket: object) => idleSinceMs.set(socket, now().getTime()));
  agents.push(agent);
  return agent;
}

/** Lets go of connections that may be dead, before a request that must not be sent twice. */
export function dropDeadConnections(): void {
  const aliveSinceMs = now().getTime() - maxIdleMs;
  for (const { freeSockets } of agents) {
    for (const sockets of Object.values(freeSockets)) {
      for (const socket of sockets ?? []) {
        if ((idleSinceMs.get(socket) ?? 0) < aliveSinceMs) socket.destroy();
      }
      // The agent takes the last one, and passes over those that are destroyed at the front of the list alone.
      sockets?.sort((one, other) => Number(other.destroyed) - Number(one.destroyed));
    }
  }
}
