import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";

import { median, tableOfFigures, type Figure } from "../figures.ts";
import { print } from "../gateway.ts";
import { load } from "../http-load.ts";
import { jasmin } from "./jasmin.ts";
import { kannel } from "./kannel.ts";
import { ours } from "./ours.ts";
import { MissingProgramError, type Peer, type PeerKind } from "./peer.ts";

// `node test/benchmarks/peers/main.ts`: the README of this folder describes what it measures.

const burstTimeoutMs = 120_000;
const pollMs = 20;

interface Running {
  readonly name: string;
  readonly peer: Peer;
}

const { isQuick, isJson } = options();
const running: Running[] = [];
try {
  for (const kind of [ours, kannel, jasmin]) {
    const started = await startOrSay(kind);
    if (started !== undefined) running.push(started);
  }
  const figures: Figure[] = [];
  for (const each of running) figures.push(...(await accepting(each)));
  figures.push(...(await delivering()));
  for (const { name, peer } of running) {
    const { memoryMegabytes } = await peer.usage();
    figures.push(figureOf(name, "memory", memoryMegabytes, "MB"));
  }
  figures.sort((one, other) => rank(one) - rank(other));
  print(isJson ? JSON.stringify(figures, undefined, 2) : tableOfFigures(figures));
} finally {
  for (const { peer } of running) await peer.stop();
}

function options(): { readonly isQuick: boolean; readonly isJson: boolean } {
  const { values } = parseArgs({
    options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
  });
  return { isQuick: values.quick, isJson: values.json };
}

/** @returns the peer, warmed up; undefined when it is not installed */
async function startOrSay({ name, guarantee, start }: PeerKind): Promise<Running | undefined> {
  try {
    const peer = await start();
    note(`${name}: ${guarantee}`);
    const { bodies } = await load(peer.call, { connections: 16, durationMs: 1_000 });
    await untilDelivered(peer, bodies.length);
    return { name, peer };
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error;
    note(`${name} was not measured: ${error.message}`);
    return undefined;
  }
}

/** How many messages a second a peer accepts. */
async function accepting({ name, peer }: Running): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const connections of isQuick ? [16] : [1, 16, 64]) {
    const before = await peer.delivered();
    const durationMs = isQuick ? 1_000 : 5_000;
    const { perSecond, bodies } = await load(peer.call, { connections, durationMs });
    figures.push(figureOf(name, `accepted, ${connections} connections`, perSecond, "messages/s"));
    await untilDelivered(peer, before + bodies.length);
  }
  return figures;
}

/** How fast the messages of a burst reach the carrier, and what they cost. */
async function delivering(): Promise<Figure[]> {
  const [size, rounds] = isQuick ? [200, 1] : [1_000, 3];
  const bursts: { readonly name: string; readonly perSecond: number; readonly cpuMs: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, peer } of running) bursts.push({ name, ...(await burst(peer, size)) });
  }
  return running.flatMap(({ name }): Figure[] => {
    const its = bursts.filter((each) => each.name === name);
    const perSecond = median(its.map((each) => each.perSecond));
    const cpuMs = median(its.map((each) => each.cpuMs));
    return [
      figureOf(name, `a burst of ${size} reaches the carrier`, perSecond, "messages/s"),
      figureOf(name, "CPU a message of the burst", cpuMs, "ms"),
    ];
  });
}

/** How many messages of a burst reach the carrier in a second, from the first call to the last of them. */
async function burst(peer: Peer, size: number): Promise<{ perSecond: number; cpuMs: number }> {
  const before = await peer.delivered();
  const { cpuMs: usedBeforeMs } = await peer.usage();
  const startedAt = performance.now();
  await load(peer.call, { connections: 16, durationMs: burstTimeoutMs, calls: size });
  await untilDelivered(peer, before + size);
  const perSecond = (size / (performance.now() - startedAt)) * 1_000;
  return { perSecond, cpuMs: ((await peer.usage()).cpuMs - usedBeforeMs) / size };
}

async function untilDelivered(peer: Peer, count: number): Promise<void> {
  const deadline = performance.now() + burstTimeoutMs;
  while ((await peer.delivered()) < count) {
    if (performance.now() > deadline) throw new Error("messages did not reach the carrier");
    await delay(pollMs);
  }
}

function figureOf(name: string, what: string, value: number, unit: string): Figure {
  return { suite: name, what, value, unit };
}

function rank({ suite }: Figure): number {
  return running.findIndex(({ name }) => name === suite);
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
