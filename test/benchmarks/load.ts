import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

import { projectRoot } from "../../infra/build/project-root.ts";
import type { Figure, Suite } from "./figures.ts";
import { load, type HttpCall } from "./http-load.ts";
import {
  openCustomer,
  sendCall,
  serveGateway,
  type BenchmarkCustomer,
  type ServedGateway,
} from "./served-gateway.ts";

// `npm run bench -- load`: the calls a second of the local gateway, as `npm start` runs it, with its data on the
// disk, and the CPU time of one. The seconds depend on this machine and its other work.
// `--against` measures another checkout alternately, so that both meet the same conditions.

/** How long a round may take to finalize the messages that it accepted. */
const deliverTimeoutMs = 120_000;
const settlePollMs = 100;

/** A gateway that is measured, with its customer. */
interface Side {
  /** The prefix of its figures. */
  readonly label: string;
  readonly gateway: ServedGateway;
  readonly customer: BenchmarkCustomer;
}

/** @param against the folder of another checkout, with its packages */
export function loadSuiteAgainst(against: string | undefined): Suite {
  return async ({ isQuick }, note) => {
    const sides: Side[] = [];
    const folders = [["", projectRoot], ...(against === undefined ? [] : [["before: ", against]])] as const;
    for (const [label = "", folder = projectRoot] of folders) {
      const gateway = await serveGateway(folder);
      sides.push({ label, gateway, customer: await openCustomer(gateway.url) });
    }
    const figures: Figure[] = [];
    const measure = async (what: string, options: Round): Promise<void> => {
      for (const side of sides) {
        const measured = await measureRound(side, what, options);
        figures.push(...measured);
        // A run that is ended early has printed its results.
        for (const { what: name, value, unit } of measured)
          note(`load: ${name} ${value.toPrecision(3)} ${unit}`);
      }
    };
    const durationMs = isQuick ? 1_000 : 3_000;
    const connectionCounts = isQuick ? [16] : [1, 16, 64];
    for (const [name, callOf] of Object.entries(calls)) {
      for (const connections of connectionCounts) {
        await measure(`${name}, ${connections} connections`, { callOf, connections, durationMs });
      }
    }
    for (const { label, gateway } of sides) {
      const { memoryMegabytes } = await gateway.usage();
      const atMost = label === "" ? { atMost: 700 } : {};
      figures.push({ suite: "load", what: `${label}memory`, value: memoryMegabytes, unit: "MB", ...atMost });
      await gateway.stop();
    }
    note(`load: the machine had ${loadavg()[0]?.toFixed(1)} processes at work on average in the last minute`);
    return figures;
  };
}

const calls: Readonly<Record<string, (side: Side) => HttpCall>> = {
  "GET /health": ({ gateway }) => ({ method: "GET", url: `${gateway.url}/health` }),
  "GET /v1/wallet": (side) => getCall(side, "/v1/wallet"),
  "GET /v1/sms": (side) => getCall(side, "/v1/sms"),
  send: ({ gateway, customer }) => sendCall(gateway, customer.authorization),
};

function getCall({ gateway, customer: { authorization } }: Side, path: string): HttpCall {
  return { method: "GET", url: `${gateway.url}${path}`, headers: { authorization } };
}

interface Round {
  readonly callOf: (side: Side) => HttpCall;
  readonly connections: number;
  readonly durationMs: number;
}

/** A round of calls. It waits for the consequences of sends, which are in the CPU time. */
async function measureRound(
  side: Side,
  what: string,
  { callOf, connections, durationMs }: Round,
): Promise<readonly Figure[]> {
  const { gateway, label } = side;
  const next = (): HttpCall => callOf(side);
  // Cold starts are measured elsewhere.
  await load(next, { connections, durationMs: 500 });
  await settled(side);
  const before = await gateway.usage();
  const { perSecond, medianMs, p99Ms, bodies } = await load(next, { connections, durationMs });
  await settled(side);
  const { cpuMs } = await gateway.usage();
  const figure = (name: string, value: number, unit: string): Figure => {
    return { suite: "load", what: `${label}${what}: ${name}`, value, unit };
  };
  return [
    figure("rate", perSecond, "calls/s"),
    figure("median", medianMs, "ms"),
    figure("p99", p99Ms, "ms"),
    figure("CPU", (cpuMs - before.cpuMs) / bodies.length, "ms/call"),
  ];
}

/** Waits until the customer's messages are final. */
async function settled({ customer }: Side): Promise<void> {
  const deadline = performance.now() + deliverTimeoutMs;
  for (;;) {
    const { today } = await customer.client.getDashboardStats();
    if (today.queued === 0) return;
    if (performance.now() > deadline) throw new Error("messages did not become final");
    await delay(settlePollMs);
  }
}
