import type { ServerResponse } from "node:http";

import { startHttpServer, type HttpServer } from "./http-server.ts";

/** A response to one request: its status with headers and body, or a handler. */
export type ScriptedResponse =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | ((response: ServerResponse) => void);

/** An HTTP server that responds as scripted, one response for each request. The last one repeats. */
export async function startScriptedServer(script: readonly ScriptedResponse[]): Promise<HttpServer> {
  let count = 0;
  return startHttpServer((_request, response) => {
    const scripted = script[Math.min(count, script.length - 1)];
    count += 1;
    if (typeof scripted === "function") return scripted(response);
    const { status = 500, headers = {}, body = {} } = scripted ?? {};
    return response
      .writeHead(status, { "Content-Type": "application/json", ...headers })
      .end(JSON.stringify(body));
  });
}
