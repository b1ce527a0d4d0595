import { afterAll, beforeAll, expect, it } from "vitest";

import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import type { Books } from "./books.ts";
import { patientNumbers } from "./numbers.ts";
import { randomFrom } from "./random.ts";
import { alarming, settle, worldProblems } from "./settlement.ts";
import { Traffic, type Tenant } from "./traffic.ts";
import { World } from "./world.ts";

/*
 * A day of traffic on an AWS that loses, delays, repeats and rejects requests, with functions that are killed. One carrier
 * fails for an hour, and a route has two others that accept, reject, hang, respond late or break at random. `CHAOS_SEED`
 * repeats the traffic and the odds, but threads never meet in quite the same way. `CHAOS_SEEDS` is the number of seeds, and
 * `CHAOS_SENDS` the number of sends.
 */

const firstSeed = Number(process.env["CHAOS_SEED"] ?? Date.now() % 2 ** 31);
const seedCount = Number(process.env["CHAOS_SEEDS"] ?? 1);
const sendCount = Number(process.env["CHAOS_SENDS"] ?? 5_000);
const seeds = Array.from({ length: seedCount }, (_, index) => firstSeed + index);

/** Sent while the carrier fails. */
const patientCount = Math.round(sendCount * 0.4);
/** Contacts of the two tenants that have campaigns, four in all. */
const contactCount = Math.round((sendCount * 0.4) / 4);
const singleCount = sendCount - patientCount - 4 * contactCount;

/** The number of steps of a minute with sends of all kinds, and then of half an hour without a carrier. */
const busySteps = 12;
const outageSteps = 2;

const runTimeoutMs = 600_000;

const alarms: string[] = [];
/** Messages of this run and of those before it, which share the gateway. */
const allMessages = new Map<string, MessageRecord>();

let world: World;
beforeAll(async () => {
  const log = (line: string): void => void (alarming.test(line) && alarms.push(line));
  // With an odd seed, requests reach the store over HTTP, as they reach AWS.
  world = await World.start(log, { usesPorts: firstSeed % 2 === 0 });
});
afterAll(async () => world.stop());

const print = (line: string): void => void process.stdout.write(`${line}\n`);

it.each(seeds)("seed %i", { timeout: runTimeoutMs }, async (seed) => {
  print(`chaos with CHAOS_SEED=${seed} CHAOS_SENDS=${sendCount}`);
  const startedAt = performance.now();
  alarms.length = 0;
  const traffic = new Traffic(
    () => world.gateway.url,
    seed,
    () => world.now(),
  );
  try {
    const balance = 1_000;
    await traffic.addTenant({ balance, contacts: contactCount, campaigns: 3, hasWebhook: false });
    const resharded = { campaigns: 1, hasWebhook: true, shards: 3 };
    await traffic.addTenant({ balance, contacts: contactCount, ...resharded });
    await traffic.addTenant({ balance, contacts: 1, campaigns: 0, hasWebhook: false });
    // This one runs out of money repeatedly.
    await traffic.addTenant({ balance: 0.1, contacts: 1, campaigns: 0, hasWebhook: true });
    world.aws.becomeUnreliable(randomFrom(seed));
    world.carriers.becomeUnreliable(randomFrom(seed + 2));
    const outageEndedAt = await liveThroughChaos(traffic);
    world.aws.becomeReliable();
    world.carriers.becomeReliable();
    const books = await settle(world, traffic);
    const problems = [...alarms, ...(await worldProblems(world, books, allMessages))];
    print(summary(traffic, books, performance.now() - startedAt));
    expect(problems).toEqual([]);
    // Most messages that waited for the carrier were sent after it recovered.
    const patient = [...books.values()].flatMap(({ messages }) => messages).filter(isPatient);
    expect(patient.filter(({ sentAt = "" }) => sentAt >= outageEndedAt).length).toBeGreaterThan(
      patientCount / 2,
    );
    // Carriers rejected and throttled messages, and the gateway failed over.
    expect(world.carriers.passedOn).toBeGreaterThanOrEqual(Math.floor(sendCount / 1_000));
  } finally {
    world.aws.becomeReliable();
    world.carriers.becomeReliable();
    await traffic.stop();
  }
});

/** @returns when the carrier recovered */
async function liveThroughChaos(traffic: Traffic): Promise<string> {
  for (let step = 0; step < busySteps; step += 1) {
    await Promise.all([
      traffic.sendSome(share(singleCount, busySteps, step)),
      world.runSchedules(),
      traffic.launchCampaigns(),
    ]);
    await traffic.repeatUnanswered();
    await world.advance(minuteMs);
  }
  world.aws.isCarrierOut = true;
  for (let step = 0; step < outageSteps; step += 1) {
    await Promise.all([traffic.sendPatient(share(patientCount, outageSteps, step)), world.runSchedules()]);
    await world.advance((60 / outageSteps) * minuteMs);
  }
  world.aws.isCarrierOut = false;
  return world.now().toISOString();
}

function isPatient({ to }: { readonly to: string }): boolean {
  return patientNumbers.includes(to);
}

/** The share of one part in a whole. */
function share(whole: number, parts: number, index: number): number {
  return Math.floor((whole * (index + 1)) / parts) - Math.floor((whole * index) / parts);
}

function summary(traffic: Traffic, books: ReadonlyMap<Tenant, Books>, durationMs: number): string {
  const messages = [...books.values()].flatMap((each) => each.messages);
  const answers = Map.groupBy(
    traffic.sends.flatMap(({ statuses }) => statuses),
    (status) => status,
  );
  const states = Map.groupBy(messages, ({ status, errorCode }) => errorCode ?? status);
  const patient = messages.filter(isPatient);
  const { counts, writeUnits } = world.aws;
  const units = [...writeUnits.values()].reduce((sum, each) => sum + each, 0);
  const list = (entries: Iterable<readonly [unknown, number]>): string =>
    [...entries].map(([name, count]) => `${String(name)} ${count}`).join(", ");
  const sizes = <Name>(groups: Map<Name, unknown[]>): [Name, number][] =>
    [...groups].map(([name, group]) => [name, group.length]);
  return [
    `after ${Math.round(durationMs / 1_000)} s: ${messages.length} messages; responses: ${list(sizes(answers))}`,
    `messages: ${list(sizes(states))}`,
    `of ${patient.length} that the carrier throttled, ${patient.filter(({ status }) => status === "queued").length} are stuck`,
    `faults: ${list(counts)}`,
    `two carriers: ${list(world.carriers.counts)}; ${world.carriers.passedOn} messages came to the second`,
    `write units a message: ${(units / messages.length).toFixed(1)}; by function: ${list([...writeUnits].map(([name, each]) => [name, Math.round(each)]))}`,
  ].join("\n");
}
