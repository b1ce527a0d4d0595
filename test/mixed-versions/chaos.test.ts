import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it } from "vitest";

import { projectRoot } from "../../infra/build/project-root.ts";
import { DataServices } from "../../infra/local/data-services.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { Carriers } from "../chaos/carriers.ts";
import { killUnderLoad, useTableOf } from "../chaos/kill-under-load.ts";
import { startKilledGateway, type KilledGateway } from "../chaos/killed-gateway.ts";
import { oneOf, randomFrom } from "../chaos/random.ts";
import { alarming, settle, worldProblems } from "../chaos/settlement.ts";
import { Traffic } from "../chaos/traffic.ts";
import { impatientAssembly, World } from "../chaos/world.ts";
import { uncheckedOrigins } from "../support/contract.ts";
import { freePort } from "../support/ports.ts";
import { assemblyOf, checkOutLastRelease } from "./last-release.ts";

/*
 * Gateways of the last release and of the present code, over one store and one set of queues. Both are killed under load and
 * started again. `KILLS_SEED` repeats the traffic and the moments, as far as processes can be repeated.
 */

const seed = Number(process.env["KILLS_SEED"] ?? Date.now() % 2 ** 31);

/** A deployment of the present code, and its rollback. */
const phases = [["last"], ["last", "present"], ["present"], ["last", "present"], ["last"]] as const;
type Version = (typeof phases)[number][number];

/** The sends of each version after the phases, with campaigns and schedules. */
const sendCount = 60;
const contactCount = 20;

let lastFolder: string;
/** Two gateways cannot use one folder. That of the present code begins with the secrets of the other one. */
let dataFolders: Record<Version, string>;
let store: DataServices;
let assemblies: Record<Version, Awaited<ReturnType<typeof impatientAssembly>>>;
let ports: Record<Version, number>;

beforeAll(async () => {
  lastFolder = await checkOutLastRelease();
  const [last, present] = [await newFolder(), await newFolder()];
  dataFolders = { last, present };
  store = await DataServices.start(undefined, undefined, false);
  process.env["DYNAMODB_ENDPOINT"] = store.dynamodbEndpoint;
  process.env["SQS_ENDPOINT"] = store.sqsEndpoint;
  const lastAssembly = await impatientAssembly(await assemblyOf(lastFolder));
  assemblies = { last: lastAssembly, present: await impatientAssembly() };
  ports = { last: await freePort(), present: await freePort() };
  // The contract may have more than the last release knows.
  uncheckedOrigins.add(urlOf("last"));
});
afterAll(async () => {
  delete process.env["DYNAMODB_ENDPOINT"];
  delete process.env["SQS_ENDPOINT"];
  uncheckedOrigins.clear();
  await store.stop();
  const folders = Object.values(assemblies).map(({ assemblyFolder }) => assemblyFolder);
  folders.push(...Object.values(dataFolders));
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function newFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), "sms-gateway-"));
}

function urlOf(version: Version): string {
  return `http://127.0.0.1:${ports[version]}`;
}

const alarms: string[] = [];
const log = (line: string): void => {
  if (alarming.test(line) || line.includes("record.unreadable")) alarms.push(line);
};

it("two releases over one table lose no message and no money", async () => {
  process.stdout.write(`mixed versions with KILLS_SEED=${seed}\n`);
  const random = randomFrom(seed + 1);
  const gateways = new Map<Version, KilledGateway>();
  let versions: readonly Version[] = ["last"];
  let world: World | undefined;
  let carriers: Carriers | undefined;
  const start = async (version: Version): Promise<KilledGateway> => {
    const dataFolder = dataFolders[version];
    const options = { ...assemblies[version], port: ports[version], dataFolder, isSecret: false };
    const gateway = gateways.get(version) ?? (await startKilledGateway(options, log));
    gateways.set(version, gateway);
    return gateway;
  };
  const kill = async (version: Version): Promise<void> => {
    await gateways.get(version)?.kill();
    gateways.delete(version);
  };
  const anyUrl = (): string => world?.gateway.url ?? urlOf(oneOf(random, versions));
  const traffic = new Traffic(anyUrl, seed, () => world?.now() ?? new Date());
  try {
    await start("last");
    await useTableOf(dataFolders.last);
    // The addresses and the lock are of the running gateway.
    const isData = (file: string): boolean => !/^(connections\.json|lock\.sqlite)/.test(path.basename(file));
    await cp(dataFolders.last, dataFolders.present, { recursive: true, filter: isData });
    carriers = await Carriers.start();
    const balance = 1_000;
    await traffic.addTenant({ balance, contacts: contactCount, campaigns: 1, hasWebhook: true });
    await traffic.addTenant({ balance, contacts: 1, campaigns: 0, hasWebhook: false, shards: 3 });
    for (versions of phases) {
      const running = new Map(
        await Promise.all(versions.map(async (version) => [version, await start(version)] as const)),
      );
      for (const version of gateways.keys()) if (!running.has(version)) await kill(version);
      const [victim, gateway] = oneOf(random, [...running.entries()]);
      await killUnderLoad(traffic, gateway, random);
      gateways.delete(victim);
    }
    // The present code begins work that the last release completes after a rollback.
    const parts = { dataFolder: dataFolders.present, carriers, isSecret: false };
    world = await World.start(log, { ...parts, assembly: assemblies.present });
    await traffic.sendSome(sendCount);
    await world.runSchedules();
    await traffic.launchCampaigns();
    await world.advance(minuteMs);
    await world.stopGateway();
    const { aws, clock } = world;
    world = await World.start(log, { ...parts, aws, clock, assembly: assemblies.last });
    uncheckedOrigins.add(world.gateway.url);
    await traffic.sendSome(sendCount);
    const books = await settle(world, traffic);
    const problems = await worldProblems(world, books, new Map());
    for (const folder of [lastFolder, projectRoot]) problems.push(...(await walletProblems(folder)));
    expect([...alarms, ...problems]).toEqual([]);
  } finally {
    for (const version of gateways.keys()) await kill(version);
    await traffic.stop();
    await (world ?? carriers)?.stop();
  }
});

/** Runs `wallets verify` of a version. @returns its findings */
async function walletProblems(folder: string): Promise<string[]> {
  const command = ["infra/operator/main.ts", "wallets", "verify"];
  return promisify(execFile)(process.execPath, command, {
    cwd: folder,
    env: { ...process.env, DATA_DIR: dataFolders.present },
  }).then(
    () => [],
    (error: unknown) => [String(error)],
  );
}
