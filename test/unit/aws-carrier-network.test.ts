import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import type { Carrier, SubmitResult } from "../../shared/carriers/carrier.ts";
import { hastenTimers } from "../support/hastened-timers.ts";

/*
 * The outcome of a message when the network to AWS fails, with the real client. A message that has definitely not arrived
 * is tried later. In all other cases the outcome is unknown.
 */

const message = {
  reference: "msg_1",
  to: "447700900123",
  from: "ACME",
  text: "hello",
  encoding: "GSM-7",
  isPromotional: false,
} as const;

let server: Server | undefined;

beforeEach(() => {
  vi.resetModules();
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  if (server?.listening !== true) return;
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

/** The carrier's client with a server of scripted responses. */
async function carrierAt(answer: RequestListener): Promise<Carrier> {
  server = createServer(answer);
  const port = await listenOnLoopback(server);
  return carrierTo(`http://127.0.0.1:${port}`);
}

async function carrierTo(url: string): Promise<Carrier> {
  vi.stubEnv("AWS_ENDPOINT_URL_PINPOINT_SMS_VOICE_V2", url);
  const { carrierOf } = await import("../../shared/carriers/carriers.ts");
  return carrierOf({ name: "aws", settings: { kind: "aws", originationIdentities: {} } });
}

const accepted: SubmitResult = { outcome: "accepted", carrierReference: "aws-1" };

/** The message was not submitted; the reason is for the operator. */
const unreachable: SubmitResult = {
  outcome: "unreachable",
  reason: expect.any(String),
  providerCode: expect.any(String),
};

it("tries a message later when no server listens", async () => {
  const carrier = await carrierAt(() => undefined);
  server?.close();
  expect(await carrier.send(message)).toEqual(unreachable);
});

it("tries a message later when the name is not known", async () => {
  expect(await (await carrierTo("http://no-such-host.invalid")).send(message)).toEqual(unreachable);
});

/** Listens, and then sleeps permanently. It accepts no connection once its short queue is full. */
const sleeper = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const server = createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

it("tries a message later when no connection is made in time", async () => {
  const listener = new Worker(sleeper, { eval: true });
  const waiting: Socket[] = [];
  try {
    const [port = 0]: number[] = await once(listener, "message");
    for (let count = 0; count < 4; count += 1) {
      waiting.push(connect(port, "127.0.0.1").on("error", () => undefined));
    }
    const carrier = await carrierTo(`http://127.0.0.1:${port}`);
    expect(await carrier.send(message)).toEqual(unreachable);
  } finally {
    for (const socket of waiting) socket.destroy();
    await listener.terminate();
  }
});

it("reports an unknown outcome when the response does not arrive in time", async () => {
  const carrier = await carrierAt(() => undefined);
  hastenTimers();
  await expect(carrier.send(message)).rejects.toThrow("requestTimeout of 5000 ms");
});

it.each(["AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"])(
  "tries a message later when AWS turns us away with %s",
  async (type) => {
    const carrier = await carrierAt((_, response) =>
      response.writeHead(400).end(JSON.stringify({ __type: type })),
    );
    expect(await carrier.send(message)).toEqual({ outcome: "unreachable", reason: type, providerCode: type });
  },
);

it("reports an unknown outcome when the connection breaks after the message has arrived", async () => {
  const carrier = await carrierAt((request) => request.socket.destroy());
  await expect(carrier.send(message)).rejects.toThrow("socket hang up");
});

it("never uses a connection that may have died since the last message", async () => {
  const sockets = new Set<unknown>();
  const carrier = await carrierAt((request, response) => {
    // A server that has closed an idle connection resets it at the next request.
    if (sockets.has(request.socket)) return request.socket.resetAndDestroy();
    sockets.add(request.socket);
    return response.setHeader("Content-Type", "application/x-amz-json-1.0").end('{"MessageId":"aws-1"}');
  });
  expect(await carrier.send(message)).toEqual(accepted);
  expect(await carrier.send(message)).toEqual(accepted);
  expect(sockets.size).toBe(2);
});
