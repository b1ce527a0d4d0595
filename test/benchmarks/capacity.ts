import type { LocalGateway } from "../../infra/local/gateway.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { openWallet } from "../support/wallets.ts";
import { printTables } from "./capacity-tables.ts";
import type { Figure, Suite } from "./figures.ts";
import { clockOf, print, startBenchmarkGateway, type Clock } from "./gateway.ts";
import { idleCosts, sumOfCosts } from "./idle-cost.ts";
import { Meter, noUsage, shareOf, shortName, sumOf, type Reading, type Usage } from "./meter.ts";
import { customerOperations, type Operation } from "./operations.ts";
import { prices } from "./prices.ts";
import { callsPerMonth } from "./schedules.ts";
import { storedBytes } from "./storage.ts";

// `npm run bench -- capacity`: the usage of AWS by each operation of a customer, and by each idle wallet.

/** The usage of one operation, in total and by function. */
export interface Figures {
  readonly operation: string;
  readonly total: Usage;
  readonly logBytes: number;
  readonly byFunction: Readonly<Record<string, Usage>>;
  /** The cost of the counted usage, which hardly differs between runs. */
  readonly dollarsPerMillion: number;
  /** The additional cost of the functions' time. */
  readonly lambdaTimeDollarsPerMillion: number;
}

/**
 * The usage of a scheduled worker: without wallets, and the addition for each idle one. The dollars are
 * for the counted usage.
 */
export interface Background {
  readonly worker: string;
  readonly roundsPerMonth: number;
  readonly perRound: Usage;
  readonly perWalletAndRound: Usage;
  readonly dollarsPerMonth: number;
  readonly dollarsPerWalletAndMonth: number;
}

const defaultRepeats = 5;
const idleWallets = 400;
const million = 1_000_000;
const storedSends = 20;

/** Rounds of a worker that settle the wallets before the measurement, and those of the measurement. */
const restingRounds = 3;
const measuredRounds = 5;

/**
 * Measures each operation on a separate gateway, and prints its usage and its cost.
 * @returns true: it asserts nothing
 */
export async function benchmarkCapacity({ isJson }: { isJson: boolean }): Promise<boolean> {
  const meter = new Meter();
  const gateway = await startBenchmarkGateway(meter);
  await meter.watch(gateway);
  const clock = clockOf(gateway);
  const backgroundWithout = await measureBackground(meter, clock);

  const operations = await customerOperations(gateway, meter, clock);
  process.stderr.write("storage\n");
  const storage = await measureStorage(gateway, meter, operations);
  const figures: Figures[] = [];
  for (const operation of operations) {
    process.stderr.write(`${operation.name}\n`);
    figures.push(await measureOperation(meter, operation));
  }

  process.stderr.write("idle wallets\n");
  const beforeThem = await measureBackground(meter, clock);
  for (let opened = 0; opened < idleWallets; opened += 1) await openWallet(million);
  const withThem = await measureBackground(meter, clock);
  const background = [...backgroundWithout].map(([worker, { roundsPerMonth, usage }]): Background => {
    const perWalletAndRound = shareOf(
      withThem.get(worker)?.usage ?? noUsage,
      beforeThem.get(worker)?.usage ?? noUsage,
      idleWallets,
    );
    return {
      worker,
      roundsPerMonth,
      perRound: usage,
      perWalletAndRound,
      dollarsPerMonth: roundsPerMonth * dollarsOf(usage, 0),
      dollarsPerWalletAndMonth: roundsPerMonth * dollarsOf(perWalletAndRound, 0),
    };
  });
  process.stderr.write("idle stage\n");
  const idle = idleCosts(sumOfCosts(background));
  if (isJson) print(JSON.stringify({ prices, operations: figures, background, storage, idle }, undefined, 2));
  else printTables({ figures, background, storage, idle });
  await gateway.stop();
  return true;
}

/** The operations of a message's life, which are enough for a quick run. */
const quickOperations = new Set(["send", "send, with a webhook"]);

/** The budgets of the project: units, and dollars a million. */
const budgets: Readonly<Record<string, number>> = {
  "accept: write units": 5,
  "accept: read units": 1,
  "send: write units": 6.2,
  "send: table requests": 8.2,
  "send: $ a million": 9,
  "verification, approved by its first check: write units": 22,
  "send, with a webhook: write units": 10,
  "send, with a webhook: $ a million": 14,
};

/** The operations as figures of the common table. */
export const capacitySuite: Suite = async ({ isQuick }, note) => {
  const meter = new Meter();
  const gateway = await startBenchmarkGateway(meter);
  await meter.watch(gateway);
  const figures: Figure[] = [];
  const add = (operation: string, what: string, value: number, unit: string): void => {
    const atMost = budgets[`${operation}: ${what}`];
    const figure = { suite: "capacity", what: `${operation}: ${what}`, value, unit };
    figures.push(atMost === undefined ? figure : { ...figure, atMost });
  };
  const addUnits = (operation: string, { writeUnits, readUnits, tableRequests }: Usage): void => {
    add(operation, "write units", writeUnits, "units");
    add(operation, "read units", readUnits, "units");
    add(operation, "table requests", tableRequests, "requests");
  };
  for (const operation of await customerOperations(gateway, meter, clockOf(gateway))) {
    if (isQuick && !quickOperations.has(operation.name)) continue;
    note(`capacity: ${operation.name}`);
    const { total, byFunction, dollarsPerMillion } = await measureOperation(meter, operation);
    const accept = byFunction["SendSms"];
    if (operation.name === "send" && accept !== undefined) addUnits("accept", accept);
    addUnits(operation.name, total);
    add(operation.name, "$ a million", dollarsPerMillion, "$");
  }
  await gateway.stop();
  return figures;
};

/** The storage of a million sent messages, by kind of item. */
export interface Storage {
  readonly kind: string;
  readonly bytesPerMessage: number;
  /** With point-in-time recovery, which every table has. */
  readonly dollarsPerMillionAndMonth: number;
}

/** The storage of plain sends, without items whose number does not grow with the messages. */
async function measureStorage(
  gateway: LocalGateway,
  meter: Meter,
  operations: readonly Operation[],
): Promise<Storage[]> {
  const send = operations.find(({ name }) => name === "send");
  const sendOften = async (): Promise<Map<string, number>> => {
    for (let sends = 0; sends < storedSends; sends += 1) await send?.act();
    await meter.settle();
    return storedBytes(gateway);
  };
  const before = await sendOften();
  const after = await sendOften();
  return [...after]
    .map(([kind, bytes]) => ({ kind, bytesPerMessage: (bytes - (before.get(kind) ?? 0)) / storedSends }))
    .filter(({ bytesPerMessage }) => bytesPerMessage >= 1)
    .map((each) => ({
      ...each,
      dollarsPerMillionAndMonth:
        ((each.bytesPerMessage * million) / 1e9) * (prices.tableGigabyteMonth + prices.recoveryGigabyteMonth),
    }));
}

async function measureOperation(meter: Meter, operation: Operation): Promise<Figures> {
  const { name, prepare, act, besides, repeats = defaultRepeats, messages = 1 } = operation;
  const measure = async (what: () => Promise<unknown>): Promise<Reading> => {
    meter.take();
    await what();
    await meter.settle();
    return meter.take();
  };
  const prepareAndMeasure = async (): Promise<Reading> => {
    await prepare?.();
    await meter.settle();
    return measure(act);
  };
  await prepareAndMeasure();
  const readings: Reading[] = [];
  const others: Reading[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    readings.push(await prepareAndMeasure());
    if (besides !== undefined) others.push(await measure(besides));
  }
  const count = repeats * messages;
  const names = new Set(readings.flatMap(({ byFunction }) => [...byFunction.keys()]));
  const byFunction = Object.fromEntries(
    [...names].map((functionName) => {
      const [used, less] = [readings, others].map((each) =>
        sumOf(each.map((reading) => reading.byFunction.get(functionName) ?? noUsage)),
      );
      return [shortName(functionName), shareOf(used ?? noUsage, less ?? noUsage, count)] as const;
    }),
  );
  const total = sumOf(Object.values(byFunction));
  const logBytesOf = (each: readonly Reading[]): number =>
    each.reduce((sum, { logBytes }) => sum + logBytes, 0) / count;
  const logBytes = logBytesOf(readings) - logBytesOf(others);
  return {
    operation: name,
    total,
    logBytes,
    byFunction,
    dollarsPerMillion: million * dollarsOf(total, logBytes),
    lambdaTimeDollarsPerMillion: million * total.lambdaGigabyteSeconds * prices.lambdaGigabyteSecond,
  };
}

/** The idle usage of a round of each worker, with all its schedules, and the number of rounds in a month. */
async function measureBackground(
  meter: Meter,
  clock: Clock,
): Promise<Map<string, { roundsPerMonth: number; usage: Usage }>> {
  const workers = new Map<string, { roundsPerMonth: number; usage: Usage }>();
  // Entries younger than the grace are not settled yet, and each pass would read them again.
  clock.advance(graceMs + minuteMs);
  for (const { expression, functionName } of meter.schedules) {
    if (workers.has(shortName(functionName))) continue;
    for (let round = 0; round < restingRounds; round += 1) {
      await meter.callScheduled(functionName);
      await meter.settle();
    }
    clock.startMinute();
    await meter.callScheduled(functionName);
    meter.take();
    for (let round = 0; round < measuredRounds; round += 1) {
      clock.advance(minuteMs);
      await meter.callScheduled(functionName);
    }
    await meter.settle();
    const usage = shareOf(sumOf([...meter.take().byFunction.values()]), noUsage, measuredRounds);
    workers.set(shortName(functionName), { roundsPerMonth: callsPerMonth(expression), usage });
  }
  return workers;
}

/** The cost without the functions' time. */
function dollarsOf(usage: Usage, logBytes: number): number {
  return (
    usage.writeUnits * prices.writeUnit +
    usage.readUnits * prices.readUnit +
    usage.queueRequests * prices.queueRequest +
    usage.httpRequests * prices.httpRequest +
    usage.lambdaCalls * prices.lambdaCall +
    (logBytes / 1e9) * prices.logGigabyte
  );
}
