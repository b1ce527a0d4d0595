import type { ServerResponse } from "node:http";

import { vi } from "vitest";

import { startHttpServer, type HttpServer, type ReceivedRequest } from "./http-server.ts";

type Respond = (request: ReceivedRequest, response: ServerResponse) => void;

export interface AwsServer extends HttpServer {
  /** Sets the response to all later requests. */
  respond(how: Respond): void;
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
  let how: Respond = answering({});
  const server = await startHttpServer((request, response) => how(request, response));
  return {
    ...server,
    respond: (next) => {
      how = next;
    },
  };
}
