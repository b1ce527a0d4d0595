import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { checkEdge } from "../../shared/platform/http/check-edge.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

/*
 * The call of the public address from outside. Each wrong address, certificate or firewall leaves out the metric.
 */

const servers: Server[] = [];
let written: string[];

beforeEach(() => {
  written = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  vi.stubEnv("STAGE", "test");
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, "close");
  }
});

async function serve(server: Server, scheme: string): Promise<void> {
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A server on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  vi.stubEnv("API_URL", `${scheme}://127.0.0.1:${port}`);
}

async function check(): Promise<boolean> {
  await scheduled("edge.checked", checkEdge)({});
  return written.some((line) => line.includes('"EdgeReached":1'));
}

const ok = '{"data":{"status":"ok","version":"1.0"}}';
const responses: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "a firewall that blocks all": (response) => response.writeHead(403).end("Forbidden"),
  "a deleted route": (response) => response.writeHead(404).end('{"error":{"code":"NOT_FOUND"}}'),
  "a page of someone else": (response) => response.end("<h1>This domain is for sale</h1>"),
  "a redirect": (response) =>
    response.writeHead(response.req.url === "/health" ? 301 : 200, { Location: "/elsewhere" }).end(ok),
  "an error with the right body": (response) => response.writeHead(500).end(ok),
  "a broken connection": (response) => response.destroy(),
};

it("counts a call that reaches the gateway", async () => {
  await serve(
    createServer((request, response) => response.end(request.url === "/health" ? ok : "")),
    "http",
  );
  expect(await check()).toBe(true);
});

it.each(Object.entries(responses))("does not count %s", async (_, respond) => {
  await serve(
    createServer((_request, response) => respond(response)),
    "http",
  );
  expect(await check()).toBe(false);
  expect(written.some((line) => line.includes('"event":"edge.not_reached"'))).toBe(true);
  // It is no fault of the function's new version.
  expect(written.some((line) => line.includes('"level":"error"'))).toBe(false);
});

it("does not count an address without a valid certificate, or one that does not resolve", async () => {
  await serve(createTlsServer({}), "https");
  expect(await check()).toBe(false);
  vi.stubEnv("API_URL", "https://gateway.invalid");
  expect(await check()).toBe(false);
});
