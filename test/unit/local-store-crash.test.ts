import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";

import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";

import { DataServices } from "../../infra/local/data-services.ts";
import { isNightly } from "../support/second-opinions.ts";
import { createTable, moduleUrl } from "../support/store-scripts.ts";

const rounds = isNightly ? 5 : 2;
const writesAtOnce = 100;

const Items = z.object({ Items: z.array(z.object({ pk: z.object({ S: z.string() }) })) });
const Messages = z.object({ Messages: z._default(z.array(z.object({ Body: z.string() })), []) });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
});
afterEach(async () => rm(folder, { recursive: true }));

/**
 * Starts a store on the folder, sends many writes at the same time, and kills the process at the first response.
 * @param isFunction whether the writes go through a function's port, which responds before the disk has them
 * @returns the acknowledged writes
 */
async function writeUntilKilled(round: number, isFunction: boolean): Promise<string[]> {
  const script = `
    import { writeSync } from "node:fs";
    const { DataServices } = await import(${moduleUrl("infra/local/data-services.ts")});
    const services = await DataServices.start(${JSON.stringify(folder)});
    ${createTable}
    const { QueueUrl } = await services.request("sqs", "CreateQueue", { QueueName: "Jobs" });
    const { StorePort } = await import(${moduleUrl("infra/local/store/port.ts")});
    const Action = ["dynamodb:PutItem", "sqs:SendMessage"];
    const Resource = ["arn:aws:dynamodb:::table/table", "arn:aws:sqs:::Jobs"];
    const opened = services.openPort({ description: "", statements: [{ Effect: "Allow", Action, Resource }] });
    const port = new StorePort(opened.port, opened.services);
    const request = async (service, operation, input) => {
      if (!${isFunction}) return services.request(service, operation, input);
      const { status, body } = await port.send(service, operation, JSON.stringify(input));
      if (status !== 200) throw new Error(body);
      await port.kept();
    };
    const answered = (name) => {
      writeSync(1, name + "\\n");
      process.kill(process.pid, "SIGKILL");
    };
    for (let index = 0; index < ${writesAtOnce}; index += 1) {
      const [item, message] = ["item ${round} " + index, "message ${round} " + index];
      request("dynamodb", "PutItem", { TableName: "table", Item: { pk: { S: item } } }).then(() => answered(item));
      request("sqs", "SendMessage", { QueueUrl, MessageBody: message }).then(() => answered(message));
    }`;
  const file = path.join(folder, "writer.mjs");
  await writeFile(file, script);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  const [written, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(signal).toBe("SIGKILL");
  return written.split("\n").filter(Boolean);
}

/** All that is there after a restart. */
async function readAll(): Promise<Set<string>> {
  const services = await DataServices.start(folder);
  try {
    const { Items: items } = Items.parse(await services.request("dynamodb", "Scan", { TableName: "table" }));
    const found = new Set(items.map(({ pk }) => pk.S));
    await services.request("sqs", "CreateQueue", { QueueName: "Jobs" });
    for (;;) {
      const input = { QueueUrl: "/Jobs", MaxNumberOfMessages: 10 };
      const { Messages: messages } = Messages.parse(await services.request("sqs", "ReceiveMessage", input));
      if (messages.length === 0) return found;
      for (const { Body } of messages) found.add(Body);
    }
  } finally {
    await services.stop();
  }
}

it.each([
  ["the gateway's own port", false],
  ["a function's port", true],
])(
  "writes over %s that were acknowledged before a crash are there after a restart",
  async (_, isFunction) => {
    const answered: string[] = [];
    for (let round = 0; round < rounds; round += 1)
      answered.push(...(await writeUntilKilled(round, isFunction)));
    expect(answered.length).toBeGreaterThanOrEqual(rounds);
    const found = await readAll();
    expect(answered.filter((name) => !found.has(name))).toEqual([]);
  },
);
