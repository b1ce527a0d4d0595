import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

import { isLocalRequest, listenOnLoopback } from "./loopback.ts";

const waitTimeoutMs = 15_000;

export interface WebhookCall {
  readonly body: string;
  readonly event: string;
  readonly signature: string;
}

/** A customer's webhook endpoint, which returns its calls in the order of their arrival. */
export async function startReceiver(
  options: {
    /** 0 selects a free port. */
    readonly port?: number;
    /** Receives the calls instead of `next`. */
    readonly onCall?: (call: WebhookCall) => void;
  } = {},
): Promise<{ url: string; next(): Promise<WebhookCall>; close(): void }> {
  const calls: WebhookCall[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isLocalRequest(request.headers)) {
      response.writeHead(403).end();
      return;
    }
    const header = (name: string): string => String(request.headers[name]);
    const body = await text(request);
    const call = { body, event: header("x-service-event"), signature: header("x-service-signature") };
    if (options.onCall === undefined) calls.push(call);
    else options.onCall(call);
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => void take(request, response));
  const port = await listenOnLoopback(server, options.port);
  return {
    url: `http://127.0.0.1:${port}/sms-events`,
    next: async () => {
      await waitFor("a webhook call", async () => calls.length > 0);
      const [received] = calls.splice(0, 1);
      if (received === undefined) throw new Error("the call is missing");
      return received;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Waits for a condition, with a time limit. */
export async function waitFor(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + waitTimeoutMs;
  while (!(await isThere())) {
    if (Date.now() > deadline) throw new Error(`${what} did not arrive`);
    await delay(20);
  }
}
