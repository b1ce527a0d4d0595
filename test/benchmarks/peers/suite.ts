import { setTimeout as delay } from "node:timers/promises";

import type { Figure, Suite } from "../figures.ts";
import { load } from "../http-load.ts";
import { jasmin } from "./jasmin.ts";
import { kannel } from "./kannel.ts";
import { ours } from "./ours.ts";
import { MissingProgramError, type Peer } from "./peer.ts";

/*
 * `npm run bench -- peers`: what people would pick instead, in the same run, on the same machine and with the same client:
 * how many messages a second are accepted, and how many a second of a burst come to the carrier.
 */

const burstTimeoutMs = 120_000;
const pollMs = 100;

export const peersSuite: Suite = async ({ isQuick }, note) => {
  const figures: Figure[] = [];
  for (const { name, guarantee, start } of [ours, kannel, jasmin]) {
    const peer = await start().catch((error: unknown) => {
      if (error instanceof MissingProgramError) return error;
      throw error;
    });
    if (peer instanceof MissingProgramError) {
      note(`peers: ${name} was not measured: ${peer.message}`);
      continue;
    }
    note(`peers: ${name}: ${guarantee}`);
    const add = (what: string, value: number, unit: string): void =>
      void figures.push({ suite: "peers", what: `${name}: ${what}`, value, unit });
    const warmedUp = await load(peer.call, { connections: 16, durationMs: 1_000 });
    await untilDelivered(peer, warmedUp.bodies.length);
    for (const connections of isQuick ? [16] : [1, 16, 64]) {
      const before = await peer.delivered();
      const { perSecond, bodies } = await load(peer.call, {
        connections,
        durationMs: isQuick ? 1_000 : 5_000,
      });
      add(`accepted, ${connections} connections`, perSecond, "messages/s");
      await untilDelivered(peer, before + bodies.length);
    }
    const size = isQuick ? 200 : 1_000;
    add(`a burst of ${size} comes to the carrier`, await burst(peer, size), "messages/s");
    add("memory", (await peer.usage()).memoryMegabytes, "MB");
    await peer.stop();
  }
  return figures;
};

/** How many messages of a burst come to the carrier in a second, from the first call to the last of them. */
async function burst(peer: Peer, size: number): Promise<number> {
  const before = await peer.delivered();
  const startedAt = performance.now();
  await load(peer.call, { connections: 16, durationMs: burstTimeoutMs, calls: size });
  await untilDelivered(peer, before + size);
  return (size / (performance.now() - startedAt)) * 1_000;
}

async function untilDelivered(peer: Peer, count: number): Promise<void> {
  const deadline = performance.now() + burstTimeoutMs;
  while ((await peer.delivered()) < count) {
    if (performance.now() > deadline) throw new Error("messages did not come to the carrier");
    await delay(pollMs);
  }
}
