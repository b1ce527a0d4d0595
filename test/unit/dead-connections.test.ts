import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { keys } from "../../shared/platform/table/keys.ts";

/*
 * A DynamoDB that closes idle connections without the client's notice, as happens to a frozen function. A request on such a
 * connection finds it reset, and has not arrived.
 */

const key = keys.usesOfDay("test", "1");
const maxIdleMs = 60_000;
const lastUsedMs = new Map<Socket, number>();
let server: Server;
let requests = 0;

beforeEach(async () => {
  server = createServer((request, response) => {
    requests += 1;
    const at = Date.now();
    if (at - (lastUsedMs.get(request.socket) ?? at) > maxIdleMs) return request.socket.resetAndDestroy();
    lastUsedMs.set(request.socket, at);
    return response
      .setHeader("Content-Type", "application/x-amz-json-1.0")
      .end('{"Attributes":{"uses":{"N":"1"}}}');
  });
  vi.stubEnv("TABLE_NAME", "table");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${await listenOnLoopback(server)}`);
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.resetModules();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

it("a write that must not be sent twice uses no connection that died while the function was frozen", async () => {
  // The table finds out when it is loaded where DynamoDB is.
  const { updateItem, updateOf } = await import("../../shared/platform/table/write.ts");
  const count = async (): Promise<unknown> =>
    updateItem(z.object({ uses: z.number() }), updateOf(key, { add: { uses: 1 } }), {
      singleEffect: true,
    });
  const counted = { applied: true, item: { uses: 1 } };
  expect(await count()).toEqual(counted);
  // Soon after, the connection is used again.
  expect(await count()).toEqual(counted);
  expect(lastUsedMs.size).toBe(1);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * maxIdleMs });
  expect(await count()).toEqual(counted);
  expect(requests).toBe(3);
  expect(lastUsedMs.size).toBe(2);
});

it("a closed connection is not used, even when a more recent one comes before it", async () => {
  const { updateItem, updateOf } = await import("../../shared/platform/table/write.ts");
  const count = async (): Promise<unknown> =>
    updateItem(z.object({ uses: z.number() }), updateOf(key, { add: { uses: 1 } }), {
      singleEffect: true,
    });
  const later = Date.now() + 4 * maxIdleMs;
  // The clock goes back, so that the connection that was used last is the older one.
  vi.useFakeTimers({ toFake: ["Date"], now: later });
  await Promise.all([count(), count()]);
  vi.setSystemTime(later - 4 * maxIdleMs);
  await count();
  vi.setSystemTime(later);
  expect(await count()).toEqual({ applied: true, item: { uses: 1 } });
});
