import type { AwsHandler, AwsRequest, AwsResponse } from "../../infra/local/local-aws.ts";
import { tableOf, right } from "../../infra/operator/output.ts";
import { partitions, mayWait } from "../../shared/messages/counts/arrivals.ts";
import { shardCount } from "../../shared/platform/jobs/shards.ts";
import { randomFrom, type Random } from "../chaos/random.ts";
import { clockOf, print, startBenchmarkGateway } from "./gateway.ts";
import { Meter } from "./meter.ts";
import { customerOperations } from "./operations.ts";

// `npm run bench -- scale`: the messages a second at which each resource of a stage ends, for a mix of traffic. The units are measured on
// a gateway in memory. Keys that all customers share are found among its requests. The limits are those of `infra/SCALE.md`.

/** A mix of traffic: shares of the messages. */
export interface Mix {
  /** Seconds of a carrier's response. */
  readonly carrierSeconds: number;
  readonly receipts: number;
  readonly webhooks: number;
  readonly failures: number;
  /** Combinations of carrier, country and class. Each next one is rarer. */
  readonly kinds: number;
}

/** How a limit is raised: by a setting of the stage, a quota of AWS, or only by other code. */
type Raised = "code" | "quota" | "setting";

interface Ceiling {
  readonly what: string;
  /** Messages a second. */
  readonly rate: number;
  readonly raisedBy: Raised;
  readonly how: string;
}

/** The use of a message by each of these operations. */
interface Measured {
  readonly writeUnits: number;
  readonly httpRequests: number;
  /** Write units on keys that all customers share, by their family. */
  readonly shared: ReadonlyMap<string, number>;
}

const repeats = 20;
/** A partition of DynamoDB takes this number of write units a second. */
const partitionUnits = 1_000;
/** A call to AWS in its region, and the calls of an acceptance and of a receipt, one after another. */
const awsCallSeconds = 0.005;
const sequentialCalls = 8;
const jobsTogether = 10;

export async function benchmarkScale(mix: Mix, seed: number): Promise<boolean> {
  const measured = await measureOperations();
  const of = (name: string): Measured =>
    measured.get(name) ?? { writeUnits: 0, httpRequests: 0, shared: new Map() };
  const [send, webhook, failure] = [
    of("send"),
    of("send, with a webhook"),
    of("send that fails, and its refund"),
  ];
  const receipt = of([...measured.keys()].find((name) => name.endsWith("receipt")) ?? "");
  const perMessage = (use: (each: Measured) => number): number =>
    use(send) +
    mix.receipts * use(receipt) +
    mix.webhooks * (use(webhook) - use(send)) +
    mix.failures * (use(failure) - use(send));
  const writeUnits = perMessage((each) => each.writeUnits);
  const requests = 1 + mix.receipts;
  const accepting = sequentialCalls * awsCallSeconds;
  const sending = mix.carrierSeconds + sequentialCalls * awsCallSeconds;
  const concurrent = accepting * requests + sending / jobsTogether;
  const families = new Set([send, webhook, failure, receipt].flatMap(({ shared }) => [...shared.keys()]));
  const all: Ceiling[] = [
    { what: "API, `throttle` of prod", rate: 1_000 / requests, raisedBy: "setting", how: "throttle" },
    { what: "API of an account", rate: 10_000 / requests, raisedBy: "quota", how: "HTTP API requests" },
    { what: "new table", rate: 4_000 / writeUnits, raisedBy: "setting", how: "warmThroughput" },
    { what: "table", rate: 40_000 / writeUnits, raisedBy: "quota", how: "write units of a table" },
    {
      what: "Lambda of an account",
      rate: 1_000 / concurrent,
      raisedBy: "quota",
      how: "concurrent executions",
    },
    {
      what: "senders, 50 batches",
      rate: (50 * jobsTogether) / sending,
      raisedBy: "setting",
      how: "workerConcurrency",
    },
    {
      what: "senders, 1,000 batches of an event source",
      rate: (1_000 * jobsTogether) / sending,
      raisedBy: "code",
      how: "a second queue",
    },
    {
      what: "jobs in flight, one of 1,000 hidden for two minutes",
      rate: 120_000 / (sending + 0.001 * 120),
      raisedBy: "code",
      how: "a second queue",
    },
    {
      what: `figures of arrivals, ${partitions.length} keys a day`,
      rate: ceilingOfArrivals(mix, sending, seed),
      raisedBy: "code",
      how: "more partitions",
    },
    ...[...families]
      .filter((family) => family !== "ARRIVALS")
      .map((family): Ceiling => {
        const units = perMessage(({ shared }) => shared.get(family) ?? 0);
        const keys = family === "DUE" ? shardCount : 1;
        return {
          what: `${family}, ${keys} keys at a time`,
          rate: (keys * partitionUnits) / Math.max(units, Number.EPSILON),
          raisedBy: "code",
          how: "more shards",
        };
      }),
    // Measured: a shard reads 14,000 messages a second (SCALE.md).
    {
      what: "watch over spending, 270 of 900 s",
      rate: (shardCount * 14_000 * 270) / 900,
      raisedBy: "code",
      how: "more shards",
    },
    {
      what: "closing of days, 270 of 300 s",
      rate: (shardCount * 14_000 * 270) / 300,
      raisedBy: "code",
      how: "more shards",
    },
  ];
  const ceilings = all.toSorted((one, other) => one.rate - other.rate);
  print(`mix: ${JSON.stringify(mix)}; ${writeUnits.toFixed(1)} write units a message; seed ${seed}`);
  print(
    tableOf(ceilings, {
      RESOURCE: "what",
      "MESSAGES A SECOND": ({ rate }) => right(Math.floor(rate).toLocaleString("en")),
      "RAISED BY": "raisedBy",
      HOW: "how",
    }),
  );
  const first = ceilings.find(({ raisedBy }) => raisedBy === "code");
  const rate = Math.floor(first?.rate ?? 0);
  print(
    `The first ceiling that no setting and no quota raises: ${first?.what}, ${rate.toLocaleString("en")} a second.`,
  );
  return rate >= 10_000;
}

/** Measures the write units of each operation, and those on keys without an organization. */
async function measureOperations(): Promise<Map<string, Measured>> {
  const meter = new Meter();
  let shared = new Map<string, number>();
  const interceptor = async (request: AwsRequest, next: AwsHandler): Promise<AwsResponse> => {
    const response = await meter.interceptor(request, next);
    const units = writtenUnits(response);
    const keys = [...request.body.matchAll(/"pk":\{"S":"([A-Z_]+)#([^"]*)"/g)];
    // Ids, hashes and phone numbers spread over all partitions.
    for (const [, family = "", rest = ""] of keys)
      if (!/[\da-zA-Z_-]{20}|\d{10}/.test(rest))
        shared.set(family, (shared.get(family) ?? 0) + units / keys.length);
    return response;
  };
  const gateway = await startBenchmarkGateway({ interceptor, log: meter.log });
  await meter.watch(gateway);
  const found = new Map<string, Measured>();
  for (const { name, prepare, act, messages = 1 } of await customerOperations(
    gateway,
    meter,
    clockOf(gateway),
  )) {
    if (!/^(send|send, with a webhook|send that fails.*|delivery receipt)$/.test(name)) continue;
    process.stderr.write(`${name}\n`);
    await prepare?.();
    await meter.settle();
    meter.take();
    shared = new Map();
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      await act();
      await meter.settle();
    }
    const count = repeats * messages;
    const all = [...meter.take().byFunction.values()];
    const sum = (field: "httpRequests" | "writeUnits"): number =>
      all.reduce((total, usage) => total + usage[field], 0) / count;
    const each = new Map([...shared].map(([family, units]) => [family, units / count]));
    found.set(name, { writeUnits: sum("writeUnits"), httpRequests: sum("httpRequests"), shared: each });
  }
  await gateway.stop();
  return found;
}

/** The write units in a response; 0 of a read. */
function writtenUnits({ body }: AwsResponse): number {
  const [, written] =
    /"WriteCapacityUnits":([\d.]+)/.exec(body) ?? /"CapacityUnits":([\d.]+)/.exec(body) ?? [];
  return /"(Items|Item|Responses)":/.test(body) ? 0 : Number(written ?? 0);
}

/** The rate at which the busiest key of the figures of arrivals gets all the writes that its partition takes. */
function ceilingOfArrivals(mix: Mix, sendingSeconds: number, seed: number): number {
  let [low, high] = [1_000, 200_000];
  while (high - low > 500) {
    const rate = (low + high) / 2;
    const writes = arrivalWrites(rate, mix, sendingSeconds, randomFrom(seed));
    if (writes > partitionUnits) high = rate;
    else low = rate;
  }
  return low;
}

/** Simulates a slot of five minutes. @returns the writes a second of the busiest key */
function arrivalWrites(rate: number, mix: Mix, sendingSeconds: number, random: Random): number {
  const slotSeconds = 60;
  const weights = Array.from({ length: mix.kinds }, (_, index) => 1 / (index + 1) ** 1.1);
  const total = weights.reduce((sum, each) => sum + each, 0);
  const kindOf = (): number => {
    let left = random() * total;
    return Math.max(
      0,
      weights.findIndex((weight) => (left -= weight) < 0),
    );
  };
  const writes = partitions.map(() => 0);
  const simulate = (events: number, instances: number, together: number): void => {
    const all = Array.from({ length: Math.max(1, Math.ceil(instances)) }, () => ({
      key: Math.floor(random() * partitions.length),
      waiting: new Map<number, number>(),
      written: new Map<number, number>(),
    }));
    for (let batch = 0; batch < events / together; batch += 1) {
      const instance = all[Math.floor(random() * all.length)];
      if (instance === undefined) continue;
      const { key, waiting, written } = instance;
      for (let event = 0; event < together; event += 1) {
        const kind = kindOf();
        waiting.set(kind, (waiting.get(kind) ?? 0) + 1);
      }
      for (const [kind, count] of waiting) {
        if (mayWait(count, written.get(kind) ?? 0)) continue;
        writes[key] = (writes[key] ?? 0) + 1;
        written.set(kind, (written.get(kind) ?? 0) + count);
        waiting.delete(kind);
      }
    }
  };
  const messages = rate * slotSeconds;
  simulate(messages, (rate * sendingSeconds) / jobsTogether, jobsTogether / 2);
  simulate(messages * mix.receipts, rate * sequentialCalls * awsCallSeconds, 1);
  return Math.max(...writes) / slotSeconds;
}
