import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** A request as it came over the wire. */
interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Respond = (request: Received, response: ServerResponse) => void;

export interface AwsServer {
  readonly url: string;
  readonly received: Received[];
  /** Sets the response to all later requests. */
  respond(how: Respond): void;
  stop(): Promise<void>;
}

/** Responds with a status and a body in JSON. */
export function answering(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Respond {
  return (_, response) =>
    void response
      .writeHead(status, { "content-type": "application/x-amz-json-1.0", ...headers })
      .end(JSON.stringify(body));
}

/** Leads the AWS clients of a test to a server, until `vi.unstubAllEnvs`. */
export function useAwsServer({ url }: AwsServer): void {
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "key");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_ENDPOINT_URL", url);
}

/** An emulator of AWS over plain HTTP that records requests and returns the responses of a test. */
export async function startAwsServer(): Promise<AwsServer> {
  const received: Received[] = [];
  let how: Respond = answering({});
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const found = { path: request.url ?? "", headers: request.headers, body: await text(request) };
    received.push(found);
    how(found, response);
  };
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    respond: (next) => {
      how = next;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
