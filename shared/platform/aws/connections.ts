import type { Agent as HttpAgent, AgentOptions } from "node:http";

import { now, secondMs } from "../clock.ts";

/*
 * The connections to AWS. Lambda freezes a function between two calls, and a connection may be dead when the function resumes.
 * After a request on a dead connection, it is unknown whether the request arrived.
 */

/** A connection with a shorter idle time counts as alive, because AWS keeps connections for longer. */
const maxIdleMs = 2 * secondMs;

/** A function on a laptop serves all its calls concurrently. */
const options = { keepAlive: true, maxSockets: 100 };

const agents: HttpAgent[] = [];

/** When each connection was last released, in milliseconds since the epoch. */
const idleSinceMs = new WeakMap<object, number>();

/** Returns an agent that keeps its connections. */
export function keepingAgent(Agent: new (options: AgentOptions) => HttpAgent): HttpAgent {
  const agent = new Agent(options);
  agent.on("free", (socket: object) => idleSinceMs.set(socket, now().getTime()));
  agents.push(agent);
  return agent;
}

/** Closes connections that may be dead, before a request that must not be sent twice. */
export function dropDeadConnections(): void {
  const aliveSinceMs = now().getTime() - maxIdleMs;
  for (const { freeSockets } of agents) {
    for (const sockets of Object.values(freeSockets)) {
      for (const socket of sockets ?? []) {
        if ((idleSinceMs.get(socket) ?? 0) < aliveSinceMs) socket.destroy();
      }
      // The agent uses the last one. It skips destroyed ones only at the front of the list.
      sockets?.sort((one, other) => Number(other.destroyed) - Number(one.destroyed));
    }
  }
}
