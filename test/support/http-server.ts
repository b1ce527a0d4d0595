import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** A request as it came over the wire. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  readonly stop: () => Promise<void>;
}

/** Starts a server on this machine that records its requests. It responds after the whole body has come. */
export async function startHttpServer(
  respond: (request: ReceivedRequest, response: ServerResponse) => unknown,
): Promise<HttpServer> {
  const requests: ReceivedRequest[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url: path = "", headers } = request;
    const received = { method, path, headers, body: await text(request) };
    requests.push(received);
    await respond(received, response);
  };
  const server = createServer((request, response) => void serve(request, response));
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
