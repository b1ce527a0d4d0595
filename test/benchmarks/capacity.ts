import { tableOf, type Column } from "../../infra/operator/output.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { graceMs } from "../../shared/wallet/settlement.ts";
import { openWallet } from "../support/wallets.ts";
import { customerDeeds, type Deed } from "./deeds.ts";
import type { Figure, Suite } from "./figures.ts";
import { clockOf, print, startBenchmarkGateway, type Clock } from "./gateway.ts";
import { Meter, noUsage, shareOf, shortName, sumOf, type Reading, type Usage } from "./meter.ts";
import { prices } from "./prices.ts";

// `npm run bench -- capacity`: what each deed of a customer, and each wallet that nothing happens to, uses of AWS.

/** What one deed used, in all and by function. */
interface Figures {
  readonly deed: string;
  readonly total: Usage;
  readonly logBytes: number;
  readonly byFunction: Readonly<Record<string, Usage>>;
  /** For what was counted, which hardly differs between runs. */
  readonly dollarsPerMillion: number;
  /** What the time that functions ran adds to it. */
  readonly lambdaTimeDollarsPerMillion: number;
}

/**
 * What a worker uses that is called by the clock: with no wallet at all, and more for each idle one. The dollars are
 * for what was counted.
 */
interface Background {
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
const hoursPerMonth = 730;

/** Rounds of a worker that bring wallets to rest before it is measured, and those that it is measured in. */
const restingRounds = 3;
const measuredRounds = 5;

/**
 * Measures each deed on a gateway of its own and prints what it uses and costs.
 * @returns true: it asserts nothing
 */
export async function benchmarkCapacity({ isJson }: { isJson: boolean }): Promise<boolean> {
  const meter = new Meter();
  const gateway = await startBenchmarkGateway(meter);
  await meter.watch(gateway);
  const clock = clockOf(gateway);
  const backgroundWithout = await measureBackground(meter, clock);

  const figures: Figures[] = [];
  for (const deed of await customerDeeds(gateway, meter, clock)) {
    process.stderr.write(`${deed.name}\n`);
    figures.push(await measureDeed(meter, deed));
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
  if (isJson) print(JSON.stringify({ prices, deeds: figures, background }, undefined, 2));
  else printTables(figures, background);
  await gateway.stop();
  return true;
}

/** The deeds of a message's life are enough where there is little time. */
const quickDeeds = new Set(["send", "send, with a webhook"]);

/** What the project has set itself: units, and dollars a million. */
const budgets: Readonly<Record<string, number>> = {
  "accept: write units": 5,
  "accept: read units": 1,
  "send: write units": 6,
  "send: table requests": 8,
  "send: $ a million": 9,
  "send, with a webhook: write units": 10,
  "send, with a webhook: $ a million": 14,
};

/** The deeds in figures of the common table. */
export const capacitySuite: Suite = async ({ isQuick }, note) => {
  const meter = new Meter();
  const gateway = await startBenchmarkGateway(meter);
  await meter.watch(gateway);
  const figures: Figure[] = [];
  const add = (deed: string, what: string, value: number, unit: string): void => {
    const atMost = budgets[`${deed}: ${what}`];
    const figure = { suite: "capacity", what: `${deed}: ${what}`, value, unit };
    figures.push(atMost === undefined ? figure : { ...figure, atMost });
  };
  const addUnits = (deed: string, { writeUnits, readUnits, tableRequests }: Usage): void => {
    add(deed, "write units", writeUnits, "units");
    add(deed, "read units", readUnits, "units");
    add(deed, "table requests", tableRequests, "requests");
  };
  for (const deed of await customerDeeds(gateway, meter, clockOf(gateway))) {
    if (isQuick && !quickDeeds.has(deed.name)) continue;
    note(`capacity: ${deed.name}`);
    const { total, byFunction, dollarsPerMillion } = await measureDeed(meter, deed);
    const accept = byFunction["SendSms"];
    if (deed.name === "send" && accept !== undefined) addUnits("accept", accept);
    addUnits(deed.name, total);
    add(deed.name, "$ a million", dollarsPerMillion, "$");
  }
  await gateway.stop();
  return figures;
};

async function measureDeed(meter: Meter, deed: Deed): Promise<Figures> {
  const { name, prepare, act, besides, repeats = defaultRepeats, messages = 1 } = deed;
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
    deed: name,
    total,
    logBytes,
    byFunction,
    dollarsPerMillion: million * dollarsOf(total, logBytes),
    lambdaTimeDollarsPerMillion: million * total.lambdaGigabyteSeconds * prices.lambdaGigabyteSecond,
  };
}

/** What a round of each worker, all its schedules, uses at rest, and how many rounds a month has. */
async function measureBackground(
  meter: Meter,
  clock: Clock,
): Promise<Map<string, { roundsPerMonth: number; usage: Usage }>> {
  const workers = new Map<string, { roundsPerMonth: number; usage: Usage }>();
  // What is younger than the grace is not settled yet, and would be looked at again in each pass.
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
    workers.set(shortName(functionName), { roundsPerMonth: roundsPerMonthOf(expression), usage });
  }
  return workers;
}

function roundsPerMonthOf(expression: string): number {
  const [, count = "", unit = ""] = /^rate\((\d+) (minute|hour)s?\)$/.exec(expression) ?? [];
  const perHour = { minute: 60, hour: 1 }[unit];
  if (perHour === undefined) throw new Error(`the benchmark does not know the schedule ${expression}`);
  return (hoursPerMonth * perHour) / Number(count);
}

/** The price of all but the time that functions ran. */
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

function printTables(figures: readonly Figures[], background: readonly Background[]): void {
  const rows = figures.flatMap(({ byFunction, ...whole }): Row[] => {
    const parts = Object.entries(byFunction).map(([name, total]): Row => ({ deed: `- ${name}`, total }));
    return parts.length > 1 ? [whole, ...parts] : [whole];
  });
  print(tableOf(rows, deedColumns));
  print("");
  print(tableOf(background, backgroundColumns));
  print("");
  print(
    `Prices of ${prices.asOf}, us-east-1. Lambda ms is as long as the calls took on this machine, emulators included; ` +
      "all the rest was counted.",
  );
}

/** A deed, or the part that one function had in it. */
type Row = Pick<Figures, "deed" | "total"> & Partial<Figures>;

const deedColumns: readonly Column<Row>[] = [
  { heading: "deed", text: ({ deed }) => deed },
  numberColumn("write units", 2, ({ total }) => total.writeUnits),
  numberColumn("read units", 2, ({ total }) => total.readUnits),
  numberColumn("table requests", 2, ({ total }) => total.tableRequests),
  numberColumn("SQS requests", 2, ({ total }) => total.queueRequests),
  numberColumn("Lambda calls", 2, ({ total }) => total.lambdaCalls),
  numberColumn("Lambda ms", 0, ({ total }) => total.lambdaMs),
  numberColumn("log bytes", 0, ({ logBytes }) => logBytes),
  numberColumn("$ a million", 2, ({ dollarsPerMillion }) => dollarsPerMillion),
  numberColumn("$ more for Lambda ms", 2, ({ lambdaTimeDollarsPerMillion }) => lambdaTimeDollarsPerMillion),
];

const backgroundColumns: readonly Column<Background>[] = [
  { heading: "by the clock", text: ({ worker }) => worker },
  numberColumn("rounds a month", 0, ({ roundsPerMonth }) => roundsPerMonth),
  numberColumn("write units a round", 2, ({ perRound }) => perRound.writeUnits),
  numberColumn("read units", 2, ({ perRound }) => perRound.readUnits),
  numberColumn("$ a month", 2, ({ dollarsPerMonth }) => dollarsPerMonth),
  numberColumn(
    "write units an idle wallet and round",
    3,
    ({ perWalletAndRound }) => perWalletAndRound.writeUnits,
  ),
  numberColumn("read units", 3, ({ perWalletAndRound }) => perWalletAndRound.readUnits),
  numberColumn("$ a wallet and month", 5, ({ dollarsPerWalletAndMonth }) => dollarsPerWalletAndMonth),
];

/** Numbers with so many decimals at the most; what is not there stays empty. */
function numberColumn<R>(
  heading: string,
  decimals: number,
  valueOf: (row: R) => number | undefined,
): Column<R> {
  // Adding 0 makes a rounded -0 a 0.
  const text = (row: R): string => String(Number(valueOf(row)?.toFixed(decimals)) + 0);
  return { heading, text: (row) => (valueOf(row) === undefined ? "" : text(row)), isNumber: true };
}
