import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { listenOnLoopback } from "../../infra/local/loopback.ts";

interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A response to one request: its status with headers and body, or a handler. */
export type ScriptedResponse =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | ((response: ServerResponse) => void);

/** An HTTP server that responds as scripted, one response for each request. The last one repeats. */
export async function startScriptedServer(script: readonly ScriptedResponse[]): Promise<{
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  stop(): Promise<void>;
}> {
  const requests: ReceivedRequest[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url: path = "", headers } = request;
    requests.push({ method, path, headers, body: await text(request) });
    const scripted = script[Math.min(requests.length, script.length) - 1];
    if (typeof scripted === "function") {
      scripted(response);
    } else {
      const { status = 500, headers: fields = {}, body = {} } = scripted ?? {};
      response.writeHead(status, { "Content-Type": "application/json", ...fields }).end(JSON.stringify(body));
    }
  };
  const server = createServer((request, response) => void respond(request, response));
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
