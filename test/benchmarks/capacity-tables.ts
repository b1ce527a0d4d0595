import { tableOf, type Columns } from "../../infra/operator/output.ts";
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
  print(tableOf<IdleRow>([...idle, { what: "the sum", dollarsPerMonth: sumOfCosts(idle) }], idleColumns));
  print("");
  print(
    `Prices of ${prices.asOf}, us-east-1. Lambda ms is as long as the calls took on this machine, emulators included; ` +
      "all the rest was counted.",
  );
}

/** An operation, or the part that one function had in it. */
type Row = Pick<Figures, "operation" | "total"> & Partial<Figures>;

const operationColumns: Columns<Row> = {
  operation: "operation",
  "write units": ({ total }) => rounded(total.writeUnits, 2),
  "read units": ({ total }) => rounded(total.readUnits, 2),
  "table requests": ({ total }) => rounded(total.tableRequests, 2),
  "SQS requests": ({ total }) => rounded(total.queueRequests, 2),
  "Lambda calls": ({ total }) => rounded(total.lambdaCalls, 2),
  "Lambda ms": ({ total }) => rounded(total.lambdaMs, 0),
  "log bytes": ({ logBytes }) => rounded(logBytes, 0),
  "$ a million": ({ dollarsPerMillion }) => rounded(dollarsPerMillion, 2),
  "$ more for Lambda ms": ({ lambdaTimeDollarsPerMillion }) => rounded(lambdaTimeDollarsPerMillion, 2),
};

const backgroundColumns: Columns<Background> = {
  "by the clock": "worker",
  "rounds a month": ({ roundsPerMonth }) => rounded(roundsPerMonth, 0),
  "write units a round": ({ perRound }) => rounded(perRound.writeUnits, 2),
  "read units": ({ perRound }) => rounded(perRound.readUnits, 2),
  "$ a month": ({ dollarsPerMonth }) => rounded(dollarsPerMonth, 2),
  "write units an idle wallet and round": ({ perWalletAndRound }) => rounded(perWalletAndRound.writeUnits, 3),
  "read units an idle wallet and round": ({ perWalletAndRound }) => rounded(perWalletAndRound.readUnits, 3),
  "$ a wallet and month": ({ dollarsPerWalletAndMonth }) => rounded(dollarsPerWalletAndMonth, 5),
};

const storageColumns: Columns<Storage> = {
  "kept of a sent message": "kind",
  bytes: ({ bytesPerMessage }) => rounded(bytesPerMessage, 0),
  "$ a million and month": ({ dollarsPerMillionAndMonth }) => rounded(dollarsPerMillionAndMonth, 2),
};

type IdleRow = Partial<IdleCost> & Pick<IdleCost, "dollarsPerMonth" | "what">;

const idleColumns: Columns<IdleRow> = {
  "a stage that does nothing": "what",
  "how many": ({ count }) => rounded(count, 1),
  "$ a month": ({ dollarsPerMonth }) => rounded(dollarsPerMonth, 2),
};

/** A number with at most this number of decimals. */
function rounded(value: number | undefined, decimals: number): number | undefined {
  // Adding 0 makes a rounded -0 a 0.
  return value === undefined ? undefined : Number(value.toFixed(decimals)) + 0;
}
