import type { ServerResponse } from "node:http";

import { vi } from "vitest";

import { startHttpServer, type ReceivedRequest } from "./http-server.ts";
import { patience } from "./patience.ts";

/** A customer's webhook endpoint. */
export interface WebhookReceiver {
  readonly url: string;
  readonly calls: readonly ReceivedRequest[];
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
  let count = 0;
  const { url, requests, stop } = await startHttpServer((_request, response) => {
    const told = answer((count += 1));
    if (typeof told === "number") response.writeHead(told, { location: "/elsewhere" }).end();
    else told(response);
  });
  return {
    url: `${url}/hook`,
    calls: requests,
    stop,
    waitForCalls: async (expected) =>
      vi.waitFor(() => {
        if (requests.length < expected)
          throw new Error(`${requests.length} of ${expected} webhook calls have come`);
      }, patience),
  };
}
