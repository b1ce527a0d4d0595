import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

import { afterEach, expect, it, vi } from "vitest";

import { corsOf } from "../../infra/local/cors.ts";
import { HttpApi } from "../../infra/local/http-api.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { patience } from "../support/patience.ts";
import { freePort } from "../support/ports.ts";

let api: HttpApi;
afterEach(async () => api.stop());

it("responds to many simultaneous requests, and serves a limited number of them at the same time", async () => {
  api = await HttpApi.start(0, () => undefined);
  const goOn = Promise.withResolvers<void>();
  let open = 0;
  let mostOpen = 0;
  const invoke = async (): Promise<unknown> => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    await goOn.promise;
    open -= 1;
    return { statusCode: 204 };
  };
  api.serve([{ routeKey: "$default", invoke }]);
  const answers = Array.from({ length: 50 }, async () => fetch(api.url));
  await vi.waitFor(() => expect(open).toBe(16), patience);
  goOn.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([204]));
  expect(mostOpen).toBe(16);
});

it("continues after more failed requests than it runs at the same time", async () => {
  api = await HttpApi.start(0, () => undefined);
  let calls = 0;
  const invoke = async (): Promise<unknown> => {
    calls += 1;
    if (calls <= 17) throw new Error("broken");
    return { statusCode: 204 };
  };
  api.serve([{ routeKey: "$default", invoke }]);
  for (let failures = 0; failures < 17; failures += 1) expect((await fetch(api.url)).status).toBe(500);
  expect((await fetch(api.url)).status).toBe(204);
});

it("lets early requests wait until it is ready, and rejects them if the start fails", async () => {
  api = await HttpApi.start(0, () => undefined);
  const early = fetch(api.url);
  await expect(Promise.race([early, delay(100, "waits")])).resolves.toBe("waits");
  api.serve([{ routeKey: "$default", invoke: async () => ({ statusCode: 204 }) }]);
  expect((await early).status).toBe(204);

  const failed = await HttpApi.start(0, () => undefined);
  const waiting = fetch(failed.url);
  await expect(Promise.race([waiting, delay(100, "waits")])).resolves.toBe("waits");
  const stopped = failed.stop();
  expect((await waiting).status).toBe(503);
  await stopped;
});

it("prefers a route without a parameter to one with it, and both to the default route", async () => {
  api = await HttpApi.start(0, () => undefined);
  const routeKeys = ["$default", "GET /sms/{id}", "GET /sms/batch", "POST /sms/send"];
  api.serve(routeKeys.map((body) => ({ routeKey: body, invoke: async () => ({ statusCode: 200, body }) })));
  const served = ["batch", "send", "batch/1"].map(async (name) => {
    const response = await fetch(`${api.url}/sms/${name}`);
    return response.text();
  });
  expect(await Promise.all(served)).toEqual(["GET /sms/batch", "GET /sms/{id}", "$default"]);
});

/** The response to a request, as text. */
async function rawAnswer(sent: string): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  socket.end(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

it("responds 400 to an invalid address, and to a request for two hosts", async () => {
  const lines: string[] = [];
  api = await HttpApi.start(0, (line) => lines.push(line));
  api.serve([{ routeKey: "$default", invoke: async () => ({ statusCode: 204 }) }]);
  const end = "Connection: close\r\n\r\n";
  const bad = `GET http://:x HTTP/1.1\r\nHost: localhost\r\n${end}`;
  expect(await rawAnswer(bad)).toMatch(/^HTTP\/1.1 400 /);
  const twice = `GET / HTTP/1.1\r\nHost: localhost\r\nHost: other.example\r\n${end}`;
  expect(await rawAnswer(twice)).toMatch(/^HTTP\/1.1 400 /);
  expect(await rawAnswer(`GET / HTTP/1.1\r\nHost: localhost\r\n${end}`)).toMatch(/^HTTP\/1.1 204 /);
  expect(lines).toEqual([]);
});

it("serves requests of this machine only, to its own pages and to functions", async () => {
  api = await HttpApi.start(0, () => undefined);
  const pages = new Map([["/mailbox.json", () => ({ headers: {}, body: "{}" })]]);
  api.serve([{ routeKey: "$default", invoke: async () => ({ statusCode: 204 }) }], { pages });
  const statusesFor = async (headers: Record<string, string>): Promise<unknown[]> =>
    Promise.all(
      ["mailbox.json", "v1/wallet"].map(async (path) => {
        const asked = request(`${api.url}/${path}`, { headers }).end();
        const [response]: IncomingMessage[] = await once(asked, "response");
        return response?.resume().statusCode;
      }),
    );
  for (const host of ["localhost:3000", "127.0.0.1", "[::1]:80", "sms.localhost"]) {
    expect(await statusesFor({ host }), host).toEqual([200, 204]);
    for (const scheme of ["http", "https"]) {
      expect(await statusesFor({ host, origin: `${scheme}://${host}` }), host).toEqual([200, 204]);
    }
  }
  for (const name of ["attacker.example", "localhost.attacker.example", "127.0.0.1.nip.example"]) {
    expect(await statusesFor({ host: name }), name).toEqual([403, 403]);
    expect(await statusesFor({ host: "localhost", origin: `http://${name}` }), name).toEqual([403, 403]);
  }
  for (const origin of ["null", "file://localhost", "localhost", "http://localhost/attacker.example", ""]) {
    expect(await statusesFor({ host: "localhost", origin }), origin).toEqual([403, 403]);
  }
});

it("serves requests to other names of this machine if they are allowed, and names the setting", async () => {
  api = await HttpApi.start(0, () => undefined);
  const invoke = async (): Promise<unknown> => ({ statusCode: 204 });
  const cors = corsOf({ cors: undefined, routes: [{ routeKey: "$default", functionName: "x" }] });
  api.serve([{ routeKey: "$default", invoke }], { cors, hosts: ["host.docker.internal"] });
  const responseTo = async (headers: Record<string, string>): Promise<string> => {
    const asked = request(api.url, { headers }).end();
    const [response]: IncomingMessage[] = await once(asked, "response");
    if (response === undefined) throw new Error("there is no response");
    const allowed = response.headers["access-control-allow-origin"] ?? "";
    return `${response.statusCode} ${allowed}${await text(response)}`;
  };
  const host = "Host.docker.internal:3000";
  expect(await responseTo({ host })).toBe("204 ");
  expect(await responseTo({ host, origin: `http://${host}` })).toBe(`204 http://${host}`);
  expect(await responseTo({ host: "other.docker.internal" })).toMatch(/^403 .*ALLOWED_HOSTS=/);
  expect(await responseTo({ host, origin: "http://other.docker.internal" })).toMatch(/^403 /);
});

it("also listens on the IPv6 address of localhost", async () => {
  api = await HttpApi.start(0, () => undefined);
  api.serve([{ routeKey: "$default", invoke: async () => ({ statusCode: 204 }) }]);
  expect((await fetch(api.url.replace("127.0.0.1", "[::1]"))).status).toBe(204);
  const taken = createServer();
  const port = await freePort();
  await listenOnLoopback(taken, port, "::1");
  await expect(HttpApi.start(port, () => undefined)).rejects.toThrow("EADDRINUSE");
  taken.close();
});

it("passes on a path that begins with two slashes, and the path of a whole URL", async () => {
  api = await HttpApi.start(0, () => undefined);
  const paths: unknown[] = [];
  const invoke = async (event: unknown): Promise<unknown> => {
    paths.push(Object(event).rawPath);
    return { statusCode: 204 };
  };
  api.serve([{ routeKey: "$default", invoke }]);
  for (const target of ["//evil/v1/wallet", "http://localhost/v1/wallet", "http://localhost"]) {
    await rawAnswer(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  }
  expect(paths).toEqual(["//evil/v1/wallet", "/v1/wallet", "/"]);
});

it("passes on bytes that are not UTF-8 unchanged", async () => {
  api = await HttpApi.start(0, () => undefined);
  const events: unknown[] = [];
  const invoke = async (event: unknown): Promise<unknown> => {
    events.push(event);
    return { statusCode: 204 };
  };
  api.serve([{ routeKey: "$default", invoke }]);
  const post = async (body: Uint8Array<ArrayBuffer>): Promise<Response> =>
    fetch(api.url, { method: "POST", headers: { "content-type": "application/json" }, body });
  await post(Buffer.from("caf\u00e9"));
  await post(Buffer.from("caf\u00e9", "latin1"));
  expect(events).toMatchObject([
    { isBase64Encoded: false, body: "caf\u00e9" },
    { isBase64Encoded: true, body: "Y2Fm6Q==" },
  ]);
});
