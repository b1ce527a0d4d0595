import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { patience } from "./patience.ts";

interface ReceivedCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A customer's webhook endpoint. */
export interface WebhookReceiver {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  /** Waits for a number of calls. */
  waitForCalls(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** The handling of a call: a status to respond with, or a handler. */
type Answer = number | ((response: ServerResponse) => void);

/** Starts an endpoint with a scripted response to each call. */
export async function startWebhookReceiver(
  answer: (call: number) => Answer = () => 204,
): Promise<WebhookReceiver> {
  const calls: ReceivedCall[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    calls.push({ headers: request.headers, body: await text(request) });
    const told = answer(calls.length);
    if (typeof told === "number") response.writeHead(told, { location: "/elsewhere" }).end();
    else told(response);
  };
  const server = createServer((request, response) => void take(request, response));
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    waitForCalls: async (count) =>
      vi.waitFor(() => {
        if (calls.length < count) throw new Error(`${calls.length} of ${count} webhook calls have come`);
      }, patience),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
