import { once } from "node:events";
import { createServer, type Socket } from "node:net";

import { afterEach, describe, expect, it, vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { callWebhook, type CallResult } from "../../shared/webhooks/call.ts";
import { newWebhookSecret } from "../../shared/webhooks/signature.ts";
import { hastenTimers } from "../support/hastened-timers.ts";
import { patience } from "../support/patience.ts";
import { eventJob } from "../support/webhooks.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map(async (stop) => stop()));
});

/** Starts a receiver on the bare connection. @returns its URL */
async function startHostile(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket));
  });
  const port = await listenOnLoopback(server);
  stops.push(async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return `http://127.0.0.1:${port}/`;
}

async function callUrl(url: string): Promise<CallResult> {
  const { eventId, event } = eventJob("org_x");
  return callWebhook(
    {
      entity: "webhook",
      id: "whk_x",
      organizationId: "org_x",
      url,
      events: ["message.sent"],
      secret: newWebhookSecret(),
      createdAt: "2026-01-01T00:00:00.000Z",
    },
    { id: eventId, payload: event },
  );
}

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.once("close", () => clearInterval(timer));
}

describe("a receiver", () => {
  it("that sends nothing, or never ends its headers, is abandoned after ten seconds in all", async () => {
    const silent = await startHostile(() => undefined);
    const dripping = await startHostile((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      drip(socket, "x: y\r\n");
    });
    const continuing = await startHostile((socket) => drip(socket, "HTTP/1.1 100 Continue\r\n\r\n"));
    const limits = hastenTimers();
    expect(await Promise.all([silent, dripping, continuing].map(callUrl))).toEqual([
      { error: "timed out" },
      { error: "timed out" },
      { error: "timed out" },
    ]);
    expect(limits.filter((ms) => ms !== 3_000)).toEqual([10_000, 10_000, 10_000]);
  });

  it("whose connection is not there after three seconds is abandoned then", async () => {
    const silent = await startHostile(() => undefined);
    hastenTimers();
    const abandon = vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
    expect(await callUrl(silent.replace("http:", "https:"))).toEqual({ error: "timed out" });
    abandon.mockRestore();
  });

  it("that drips its body counts with its status", async () => {
    const url = await startHostile((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
      drip(socket, "x");
    });
    expect(await callUrl(url)).toMatchObject({ status: 200 });
  });

  it("that sends a gigabyte is cut off after what the connection buffers", async () => {
    let written = 0;
    let isClosed = false;
    const url = await startHostile((socket) => {
      socket.once("close", () => {
        isClosed = true;
      });
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
      const chunk = Buffer.alloc(64 * 1024);
      const writeMore = (): void => {
        while (written < 1024 ** 3 && socket.writable && socket.write(chunk)) written += chunk.length;
      };
      socket.on("drain", writeMore);
      writeMore();
    });
    expect(await callUrl(url)).toMatchObject({ status: 200 });
    await vi.waitFor(() => expect(isClosed).toBe(true), patience);
    expect(written).toBeLessThan(32 * 1024 ** 2);
  });

  it.each([
    [
      "headers without end",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(64 * 1024)}`,
      "the headers of the response are too large",
    ],
    ["something else", "SSH-2.0-OpenSSH_9.9\r\n", "not an HTTP response"],
  ])("that responds with %s is rejected", async (_name, answer, error) => {
    const url = await startHostile((socket) => socket.write(answer));
    expect(await callUrl(url)).toEqual({ error });
  });

  it.each([
    [
      "switches to another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ],
    ["hangs up", ""],
  ])("that %s has not responded", async (_name, answer) => {
    const url = await startHostile((socket) => socket.end(answer));
    expect(await callUrl(url)).toEqual({ error: "connection broken" });
  });

  it("that is not there is distinguished from one whose host does not exist", async () => {
    const url = await startHostile(() => undefined);
    await Promise.all(stops.splice(0).map(async (stop) => stop()));
    expect(await callUrl(url)).toEqual({ error: "connection refused" });
    expect(await callUrl("http://nowhere.invalid/")).toEqual({ error: "host not found" });
  });
});

describe("outside the local stage", () => {
  it.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:169.254.169.254]/",
    "https://localhost./",
  ])("%s is not called, even if it had been registered", async (url) => {
    vi.stubEnv(environmentNames.webhookTargets, "public");
    const dialled = vi.fn<() => void>();
    await startHostile(dialled);
    expect(await callUrl(url)).toEqual({ error: "the host is not a public address" });
    expect(dialled).not.toHaveBeenCalled();
  });
});
