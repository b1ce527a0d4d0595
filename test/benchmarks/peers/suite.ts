import { setTimeout as delay } from "node:timers/promises";

import { median, type Figure, type Suite } from "../figures.ts";
import { load } from "../http-load.ts";
import { jasmin } from "./jasmin.ts";
import { kannel } from "./kannel.ts";
import { ours } from "./ours.ts";
import { MissingProgramError, type Peer, type PeerKind } from "./peer.ts";

/*
 * `npm run bench -- peers` compares alternative gateways in the same run, on the same machine and with the same client. It
 * measures the accepted messages a second, and the messages a second of a burst that reach the carrier. All peers run from
 * the beginning; each is measured while the others are idle. Bursts alternate, and the median of each counts.
 */

const burstTimeoutMs = 120_000;
const pollMs = 20;

interface Running {
  readonly name: string;
  readonly peer: Peer;
}

export const peersSuite: Suite = async ({ isQuick }, note) => {
  const running: Running[] = [];
  try {
    for (const kind of [ours, kannel, jasmin]) {
      const started = await startOrSay(kind, note);
      if (started !== undefined) running.push(started);
    }
    const figures: Figure[] = [];
    for (const each of running) figures.push(...(await accepting(each, isQuick)));
    figures.push(...(await delivering(running, isQuick)));
    for (const { name, peer } of running) {
      const { memoryMegabytes } = await peer.usage();
      figures.push({ suite: "peers", what: `${name}: memory`, value: memoryMegabytes, unit: "MB" });
    }
    return figures.toSorted((one, other) => rank(running, one) - rank(running, other));
  } finally {
    for (const { peer } of running) await peer.stop();
  }
};

/** @returns the peer, warmed up; undefined when it is not installed */
async function startOrSay(
  { name, guarantee, start }: PeerKind,
  note: (text: string) => void,
): Promise<Running | undefined> {
  try {
    const peer = await start();
    note(`peers: ${name}: ${guarantee}`);
    const { bodies } = await load(peer.call, { connections: 16, durationMs: 1_000 });
    await untilDelivered(peer, bodies.length);
    return { name, peer };
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error;
    note(`peers: ${name} was not measured: ${error.message}`);
    return undefined;
  }
}

/** How many messages a second a peer accepts. */
async function accepting({ name, peer }: Running, isQuick: boolean): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const connections of isQuick ? [16] : [1, 16, 64]) {
    const before = await peer.delivered();
    const durationMs = isQuick ? 1_000 : 5_000;
    const { perSecond, bodies } = await load(peer.call, { connections, durationMs });
    const what = `${name}: accepted, ${connections} connections`;
    figures.push({ suite: "peers", what, value: perSecond, unit: "messages/s" });
    await untilDelivered(peer, before + bodies.length);
  }
  return figures;
}

/** How fast the messages of a burst reach the carrier, and what they cost. */
async function delivering(running: readonly Running[], isQuick: boolean): Promise<Figure[]> {
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
      {
        suite: "peers",
        what: `${name}: a burst of ${size} comes to the carrier`,
        value: perSecond,
        unit: "messages/s",
      },
      { suite: "peers", what: `${name}: CPU a message of the burst`, value: cpuMs, unit: "ms" },
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
    if (performance.now() > deadline) throw new Error("messages did not come to the carrier");
    await delay(pollMs);
  }
}

function rank(running: readonly Running[], { what }: Figure): number {
  return running.findIndex(({ name }) => what.startsWith(name));
}
