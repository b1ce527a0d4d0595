import { tableOf, type Column } from "../../infra/operator/output.ts";
import type { Background, Figures, Storage } from "./capacity.ts";
import { print } from "./gateway.ts";
import { sumOfCosts, type IdleCost } from "./idle-cost.ts";
import { prices } from "./prices.ts";

/** Prints what `npm run bench -- capacity` has measured. */
export function printTables({
  figures,
  background,
  storage,
  idle,
}: {
  readonly figures: readonly Figures[];
  readonly background: readonly Background[];
  readonly storage: readonly Storage[];
  readonly idle: readonly IdleCost[];
}): void {
  const rows = figures.flatMap(({ byFunction, ...whole }): Row[] => {
    const parts = Object.entries(byFunction).map(([name, total]): Row => ({ operation: `- ${name}`, total }));
    return parts.length > 1 ? [whole, ...parts] : [whole];
  });
  print(tableOf(rows, operationColumns));
  print("");
  print(tableOf(background, backgroundColumns));
  print("");
  print(tableOf(storage, storageColumns));
  print("");
  print(tableOf([...idle, { what: "the sum", dollarsPerMonth: sumOfCosts(idle) }], idleColumns));
  print("");
  print(
    `Prices of ${prices.asOf}, us-east-1. Lambda ms is as long as the calls took on this machine, emulators included; ` +
      "all the rest was counted.",
  );
}

/** An operation, or the part that one function had in it. */
type Row = Pick<Figures, "operation" | "total"> & Partial<Figures>;

const operationColumns: readonly Column<Row>[] = [
  { heading: "operation", text: ({ operation }) => operation },
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

const storageColumns: readonly Column<Storage>[] = [
  { heading: "kept of a sent message", text: ({ kind }) => kind },
  numberColumn("bytes", 0, ({ bytesPerMessage }) => bytesPerMessage),
  numberColumn("$ a million and month", 2, ({ dollarsPerMillionAndMonth }) => dollarsPerMillionAndMonth),
];

const idleColumns: readonly Column<Partial<IdleCost> & Pick<IdleCost, "dollarsPerMonth" | "what">>[] = [
  { heading: "a stage that does nothing", text: ({ what }) => what },
  numberColumn("how many", 1, ({ count }) => count),
  numberColumn("$ a month", 2, ({ dollarsPerMonth }) => dollarsPerMonth),
];

/** A column of numbers with at most this number of decimals. A missing number is empty. */
function numberColumn<R>(
  heading: string,
  decimals: number,
  valueOf: (row: R) => number | undefined,
): Column<R> {
  // Adding 0 makes a rounded -0 a 0.
  const text = (row: R): string => String(Number(valueOf(row)?.toFixed(decimals)) + 0);
  return { heading, text: (row) => (valueOf(row) === undefined ? "" : text(row)), isNumber: true };
}
