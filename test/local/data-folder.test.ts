import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";

import { projectRoot } from "../../infra/build/project-root.ts";
import { readConnections } from "../../infra/local/connections.ts";
import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { Customer } from "../support/api.ts";
import { patience } from "../support/patience.ts";

let dataFolder: string;
const running = new Set<LocalGateway>();

beforeEach(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
});
afterEach(async () => {
  for (const each of running) await each.stop();
  running.clear();
  await rm(dataFolder, { recursive: true });
});

async function start(options: Partial<LocalGatewayOptions> = {}): Promise<LocalGateway> {
  const log = (): void => undefined;
  const defaults = { ...inject("assembly"), port: 0, dataFolder, log, runsSchedules: false };
  const gateway = await startLocalGateway({ ...defaults, ...options });
  running.add(gateway);
  return gateway;
}

async function stop(gateway: LocalGateway): Promise<void> {
  running.delete(gateway);
  await gateway.stop();
}

const startTimeoutMs = 60_000;

/** Returns the error that a start prints. One that runs instead is ended. */
async function errorOfStart(environment: Record<string, string>, ...flags: string[]): Promise<string> {
  const command = ["--require", "./infra/program.cjs", "infra/local/start.ts", ...flags];
  const env = { PATH: process.env["PATH"], DATA_DIR: dataFolder, ...environment };
  return promisify(execFile)(process.execPath, command, {
    cwd: projectRoot,
    env,
    timeout: startTimeoutMs,
  }).then(
    () => "it started",
    (error: unknown) => String(Object(error).stderr),
  );
}

it.each([[[]], [["--fresh"]]])(
  "a second gateway does not start on the folder of a running one %j",
  async (flags) => {
    const first = await start();
    const customer = await Customer.register({ balance: 5, baseUrl: first.url });
    const connections = await readConnections(dataFolder);
    expect(await errorOfStart({ PORT: "0" }, ...flags)).toBe(
      `The gateway on ${first.url} already uses the data in ${dataFolder}: ` +
        "stop it, or choose another folder and port: DATA_DIR=.local-2 PORT=3001 npm start\n",
    );
    expect(await readConnections(dataFolder)).toEqual(connections);
    await stop(first);
    const again = await start();
    expect(await customer.at(again.url).balance()).toBe(5);
  },
);

it("a start that gets no port deletes nothing, and leaves the folder to others", async () => {
  const first = await start();
  const customer = await Customer.register({ balance: 5, baseUrl: first.url });
  await stop(first);
  const taken = createServer();
  const port = await listenOnLoopback(taken);
  expect(await errorOfStart({ PORT: String(port) }, "--fresh")).toBe(
    `Port ${port} is in use: stop the program that listens there, or choose another port: PORT=3001 npm start\n`,
  );
  await expect(start({ port, isFresh: true })).rejects.toThrow("EADDRINUSE");
  taken.close();
  await once(taken, "close");
  const second = await start();
  expect(await customer.at(second.url).balance()).toBe(5);
});

it("a fresh start deletes the data of gateways, and nothing else", async () => {
  const first = await start();
  const customer = await Customer.register({ balance: 5, baseUrl: first.url });
  const mailbox = new URL(first.mailboxUrl).pathname;
  await stop(first);
  const others = [".git/config", "notes.txt", "documents/thesis.pdf", "documents/private/letter.txt"];
  for (const name of others) {
    await mkdir(path.dirname(path.join(dataFolder, name)), { recursive: true });
    await writeFile(path.join(dataFolder, name), name);
  }
  const objects = path.join(dataFolder, "documents/org_01M7Y6EGDXHA99AE471ACHQK57");
  await mkdir(objects);
  await writeFile(path.join(objects, "INV-2026-000001.pdf"), "");

  const kept = await start();
  expect(new URL(kept.mailboxUrl).pathname).toBe(mailbox);
  await stop(kept);
  const fresh = await start({ isFresh: true });
  expect((await customer.at(fresh.url).call("/v1/wallet")).status).toBe(401);
  expect(new URL(fresh.mailboxUrl).pathname).not.toBe(mailbox);
  expect((await readConnections(dataFolder)).mailbox).toBe(fresh.mailboxUrl);
  expect(existsSync(objects)).toBe(false);
  for (const name of others) expect(await readFile(path.join(dataFolder, name), "utf8")).toBe(name);
});

it("a blank variable is a missing one, and another value gets an error with its name", async () => {
  await start();
  const blank = { PORT: "0", STAGES_FOLDER: "", DYNAMODB_ENDPOINT: " ", STRIPE_SECRET_KEY: "" };
  expect(await errorOfStart(blank)).toContain(`already uses the data in ${dataFolder}`);
  expect(await errorOfStart({ PORT: "abc" })).toBe('PORT must be a port from 0 to 65535, not "abc".\n');
  expect(await errorOfStart({ PORT: "65536" })).toContain("PORT must be");
});

it.each(["", "{", '{"dynamodb":"http://127.0.0.1:1/","sqs":"http://127.0.0.1:1/"}'])(
  "the addresses %j, which a crash has cut or another release has written, stop no start",
  async (content) => {
    await writeFile(path.join(dataFolder, "connections.json"), content);
    const gateway = await start();
    expect(await readConnections(dataFolder)).toMatchObject({
      url: gateway.url,
      mailbox: gateway.mailboxUrl,
    });
  },
);

it("starts in watch mode, in which Node reports the files of threads as messages", async () => {
  const command = [
    "--require",
    "./infra/program.cjs",
    "--watch-path=infra/stack/stages",
    "infra/local/start.ts",
  ];
  const missing = path.join(dataFolder, "missing", "parents");
  const env = { PATH: process.env["PATH"], DATA_DIR: missing, PORT: "0" };
  const watching = spawn(process.execPath, command, { cwd: projectRoot, env });
  const printed: string[] = [];
  for (const stream of [watching.stdout, watching.stderr]) {
    stream.on("data", (chunk) => printed.push(String(chunk)));
  }
  try {
    await vi.waitFor(() => expect(printed.join("")).toContain("SMS gateway ready"), patience);
  } finally {
    watching.kill();
    await once(watching, "close");
  }
});

it("a damaged file of secrets is named, and not quoted", async () => {
  const file = path.join(dataFolder, "secrets.json");
  await writeFile(file, '{"a": secret123}');
  await expect(start()).rejects.toThrow(
    `${file} is damaged: restore it, or delete all data with npm start -- --fresh`,
  );
});

it("a file that is no database is named, and left as it is", async () => {
  const file = path.join(dataFolder, "aws.sqlite");
  const content = "this is not a database ".repeat(100);
  await writeFile(file, content);
  await expect(start()).rejects.toThrow(
    `The data in ${file} cannot be opened: file is not a database. Move it`,
  );
  expect(await readFile(file, "utf8")).toBe(content);
  await start({ isFresh: true });
});
