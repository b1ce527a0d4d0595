import type { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

import { NodeHttpHandler } from "@smithy/node-http-handler";

import { now, secondMs } from "../clock.ts";

/*
 * The connections to DynamoDB, which all of a function's clients share. Lambda freezes a function between two calls, and
 * a connection that is kept meanwhile may be dead when it goes on. Whoever sends into a dead connection does not know
 * whether the request arrived.
 */

/** An attempt that has not answered after this is given up, and for most writes tried again by the SDK. */
const attemptTimeoutMs = 2_000;

/** A connection that was idle for less than this is taken to be alive: DynamoDB keeps them for longer. */
const maxIdleMs = 2 * secondMs;

/** A function on a laptop serves its calls side by side, as many as come. */
const options = { keepAlive: true, maxSockets: 100 };

const agents: HttpAgent[] = [];

/** When each connection was last given back, in milliseconds since the epoch. */
const idleSinceMs = new WeakMap<object, number>();

export const requestHandler = new NodeHttpHandler(async () => {
  const httpsAgent = noted(new HttpsAgent(options));
  return {
    connectionTimeout: 1_000,
    requestTimeout: attemptTimeoutMs,
    // Without this the SDK only logs a warning when the time is over.
    throwOnRequestTimeout: true,
    httpsAgent,
    // An emulator speaks plain HTTP. In AWS nothing needs the module, which takes a tenth of the time to load a function.
    ...(isPlain() ? { httpAgent: noted(new (await import("node:http")).Agent(options)) } : {}),
  };
});

function isPlain(): boolean {
  const endpoint = process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? process.env["AWS_ENDPOINT_URL"];
  return endpoint?.startsWith("http:") === true;
}

function noted<Agent extends HttpAgent>(agent: Agent): Agent {
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
