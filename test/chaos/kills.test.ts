import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { freePort } from "../support/ports.ts";
import type { Books } from "./books.ts";
import { Carriers } from "./carriers.ts";
import { killUnderLoad, useTableOf } from "./kill-under-load.ts";
import { startKilledGateway, type KilledGateway } from "./killed-gateway.ts";
import { randomFrom } from "./random.ts";
import { alarming, settle, worldProblems } from "./settlement.ts";
import { Traffic } from "./traffic.ts";
import { impatientAssembly, World } from "./world.ts";

/*
 * A gateway whose process is killed repeatedly under load, and restarted on the same data. `KILLS_SEED` repeats the traffic
 * and the moments of a run, as far as processes can be repeated.
 */

const seed = Number(process.env["KILLS_SEED"] ?? Date.now() % 2 ** 31);
const kills = 20;

let dataFolder: string;
let assemblyFolder: string;
let stackName: string;
beforeEach(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  ({ assemblyFolder, stackName } = await impatientAssembly());
});
afterEach(async () => {
  await rm(dataFolder, { recursive: true });
  await rm(assemblyFolder, { recursive: true });
});

const alarms: string[] = [];
const log = (line: string): void => void (alarming.test(line) && alarms.push(line));

const print = (line: string): void => void process.stdout.write(`${line}\n`);

it(`${kills} kills under load lose no accepted message and no money`, async () => {
  print(`kills with KILLS_SEED=${seed}`);
  const random = randomFrom(seed + 1);
  const port = await freePort();
  const start = async (): Promise<KilledGateway> =>
    startKilledGateway({ assemblyFolder, stackName, port, dataFolder }, log);
  const traffic = new Traffic(
    () => `http://127.0.0.1:${port}`,
    seed,
    () => new Date(),
  );
  let running = await start();
  await useTableOf(dataFolder);
  const carriers = await Carriers.start();
  let world: World | undefined;
  try {
    await traffic.addTenant({ balance: 1_000, contacts: 1, campaigns: 0, hasWebhook: false });
    await traffic.addTenant({
      balance: 1_000,
      contacts: 1,
      campaigns: 0,
      hasWebhook: false,
      shards: 3,
    });
    for (let killed = 0; killed < kills; killed += 1) {
      if (killed > 0) running = await start();
      await killUnderLoad(traffic, running, random);
    }
    world = await World.start(log, { port, dataFolder, carriers });
    const books = await settle(world, traffic);
    print(summary(traffic, books));
    expect([...alarms, ...(await worldProblems(world, books, new Map()))]).toEqual([]);
  } finally {
    await running.kill();
    await (world ?? carriers).stop();
  }
});

function summary({ sends }: Traffic, books: ReadonlyMap<unknown, Books>): string {
  const all = [...books.values()];
  const count = (type: string): number =>
    all.flatMap(({ ledger }) => ledger).filter((entry) => entry.type === type).length;
  const states = Map.groupBy(
    all.flatMap(({ messages }) => messages),
    ({ status, errorCode }) => errorCode ?? status,
  );
  const unanswered = sends.filter(({ statuses }) => statuses[0] === 0).length;
  return [
    `${sends.length} sends, of which ${unanswered} got no response at first`,
    `ledger: ${count("message")} messages, ${count("refund")} refunds, ${count("void")} lost debits`,
    `messages: ${[...states].map(([state, group]) => `${state} ${group.length}`).join(", ")}`,
  ].join("\n");
}
