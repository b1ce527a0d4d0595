import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import { afterEach, beforeEach, expect, it } from "vitest";

import { createTable, moduleUrl } from "../support/store-scripts.ts";

/*
 * The store responds to a function before the disk has its writes. Nothing that may show them leaves the function's thread
 * before.
 */

/** Long enough for a request to arrive at a server of the same process, if nothing holds it. */
const slowSyncMs = 500;
/** How long a connection is in use, which a request waits for. It is free again before the sync ends. */
const busyMs = 200;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
});
afterEach(async () => rm(folder, { recursive: true }));

/** A handler that writes an item, and then tries each way out of its thread. */
const bundle = `
import { existsSync, writeSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";

const agent = new http.Agent({ keepAlive: true });
const call = (url, options) => new Promise((resolve) => {
  const { request } = url.startsWith("https") ? https : http;
  request(url, options, (response) => response.resume().on("end", resolve)).on("error", resolve).end();
});

export async function handler({ url, secureUrl, broken }) {
  await call(url + "/before", { agent });
  const limited = new http.Agent({ keepAlive: true, maxSockets: 1 });
  call(url + "/busy", { agent: limited });
  const port = globalThis[Symbol.for("sms-gateway.aws-port")];
  if (broken) writeFileSync(broken, "");
  const { status } = await port.send("dynamodb", "PutItem", JSON.stringify({ TableName: "table", Item: { pk: { S: "1" } } }));
  writeSync(1, "written " + status + "\\n");
  call(url + "/aborted", { agent: false, signal: AbortSignal.timeout(1) }).then(() => writeSync(1, "aborted\\n"));
  for (const options of [{ agent }, { agent: limited }, { agent: false }, {}]) call(url + "/http", options);
  call(secureUrl, { agent: false });
  fetch(url + "/fetch");
  console.log("line");
  return "result";
}`;

/** Runs the handler in a function's thread. @returns what came out of the thread and the disk, in order */
async function runOnDisk(
  environment: Record<string, string>,
  traceId?: string,
): Promise<{ events: string[]; code: number }> {
  await writeFile(path.join(folder, "function.mjs"), bundle);
  const broken = environment["DISK_FAILS"];
  const script = `
    import { createServer } from "node:http";
    import { createServer as createTcpServer } from "node:net";
    import { once } from "node:events";
    import { writeSync } from "node:fs";
    import { DataServices } from ${moduleUrl("infra/local/data-services.ts")};
    import { FunctionHost } from ${moduleUrl("infra/local/function-host.ts")};
    const print = (line) => writeSync(1, line + "\\n");
    let left = 8;
    const arrived = (what) => { print(what); if (what !== "/before" && (left -= 1) === 0) process.exit(); };
    const server = createServer((request, response) => {
      arrived(request.url);
      setTimeout(() => response.end(), request.url === "/busy" ? ${busyMs} : 0);
    }).listen(0, "127.0.0.1");
    const secure = createTcpServer((socket) => { arrived("tls"); socket.destroy(); }).listen(0, "127.0.0.1");
    await Promise.all([once(server, "listening"), once(secure, "listening")]);
    const services = await DataServices.start(${JSON.stringify(folder)});
    ${createTable}
    const definition = {
      name: "Example", description: "", bundleFile: ${JSON.stringify(path.join(folder, "function.mjs"))},
      environment: {}, timeoutSeconds: 60, memoryMegabytes: 128, queuesForItself: false,
      statements: [{ Effect: "Allow", Action: ["dynamodb:PutItem"], Resource: ["arn:aws:dynamodb:::table/table"] }],
    };
    const aws = { endpoint: "http://127.0.0.1:1", openPort: (each) => services.openPort(each) };
    const host = new FunctionHost(definition, aws, new Float64Array(1), print);
    const url = "http://127.0.0.1:" + server.address().port;
    const secureUrl = "https://127.0.0.1:" + secure.address().port;
    arrived(await host.invoke({ url, secureUrl, broken: ${JSON.stringify(broken)} }, ${JSON.stringify(traceId)}));`;
  const file = path.join(folder, "run.mjs");
  await writeFile(file, script);
  const preload = ["--import", pathToFileURL(path.resolve("test/support/slow-disk.mjs")).href];
  const child = spawn(process.execPath, [...preload, file], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, , [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { events: printed.split("\n").filter(Boolean), code: Number(code) };
}

it.each([
  ["a request", undefined],
  ["a queue", "Lineage=SendMessage:1"],
])("nothing leaves a thread called by %s before a slow disk has what it wrote", async (_, traceId) => {
  const { events } = await runOnDisk({ DISK_MS: String(slowSyncMs) }, traceId);
  const written = events.indexOf("written 200");
  expect(events.slice(0, written)).toContain("/before");
  const synced = events.indexOf("synced", written);
  // A time limit does not wait for the disk.
  expect(events.slice(written + 1, synced).filter((event) => event !== "/busy")).toEqual(["aborted"]);
  expect(events.slice(synced + 1).toSorted()).toEqual([
    "/fetch",
    "/http",
    "/http",
    "/http",
    "/http",
    "line",
    "result",
    "tls",
  ]);
});

it("nothing leaves a function's thread when the disk fails, and the gateway ends", async () => {
  const { events, code } = await runOnDisk({ DISK_MS: "0", DISK_FAILS: path.join(folder, "fails") });
  const written = events.indexOf("written 200");
  expect(events.slice(written + 1).filter((event) => event !== "/busy" && event !== "aborted")).toEqual([]);
  expect(code).not.toBe(0);
});
