import { Command } from "commander";

import { benchmarkBusyWallet } from "./busy-wallet.ts";
import { benchmarkCapacity, capacitySuite } from "./capacity.ts";
import { coldStartSuite } from "./cold-start.ts";
import { tableOfFigures, type Figure, type Suite } from "./figures.ts";
import { print } from "./gateway.ts";
import { growthSuiteOf } from "./growth.ts";
import { loadSuiteAgainst } from "./load.ts";
import { benchmarkScale, type Mix } from "./scale.ts";
import { volumeSuite } from "./volume.ts";
import { warmSuite } from "./warm.ts";

// `npm run bench`: all figures in one table. `npm run bench -- <suite>`: one suite. It ends with 1 if
// an assertion of a suite fails; the table shows which budgets are missed.

const program = new Command("npm run bench --")
  .description("Measures the gateway on this machine, on a gateway of its own with its data in memory.")
  .helpCommand(false);

interface FigureOptions {
  readonly json?: true;
  readonly quick?: true;
}

const suites: readonly { readonly name: string; readonly description: string; readonly suite: Suite }[] = [
  {
    name: "cold-start",
    description: "how large each bundle is, and how long it takes to load, beside its floor",
    suite: coldStartSuite,
  },
  {
    name: "warm",
    description: "the CPU time of a call inside a function, with recorded responses of AWS",
    suite: warmSuite,
  },
  {
    name: "volume",
    description: "the CPU time and the units of closing a day and the books, for each message",
    suite: volumeSuite,
  },
];

/** Messages of the large organization of `growth`, so that all suites end within ten minutes. */
const messagesBesideOthers = 300_000;

program
  .option("--json", "print the figures as one JSON array")
  .option("--quick", "measure less of it")
  .action(async (options: FigureOptions) => {
    await report(
      [
        capacitySuite,
        ...suites.map(({ suite }) => suite),
        loadSuiteAgainst(undefined),
        growthSuiteOf(options.quick === true ? undefined : messagesBesideOthers),
      ],
      options,
    );
  });

for (const { name, description, suite } of suites) {
  withFigureOptions(program.command(name).description(description)).action(
    async (_: object, command: Command) => report([suite], command.optsWithGlobals()),
  );
}

withFigureOptions(
  program
    .command("load")
    .description("how many calls a second the local gateway handles, and how long they take")
    .option("--against <folder>", "another checkout with its packages, measured in turns with this one"),
).action(async ({ against }: { against?: string }, command: Command) =>
  report([loadSuiteAgainst(against)], command.optsWithGlobals()),
);

withFigureOptions(
  program
    .command("growth")
    .description("whether calls cost more for an organization with more data")
    .option("--messages <count>", "messages of the large organization", Number),
).action(async ({ messages }: { messages?: number }, command: Command) =>
  report([growthSuiteOf(messages)], command.optsWithGlobals()),
);

program
  .command("capacity")
  .description("what each operation uses of AWS, and what that costs")
  .option("--json", "print the figures as one JSON object")
  .action(async (_: object, command: Command) =>
    end(await benchmarkCapacity({ isJson: command.optsWithGlobals()["json"] === true })),
  );

program
  .command("busy-wallet")
  .description("whether refunds get through to a wallet that is debited hundreds of times a second")
  .action(async () => end(await benchmarkBusyWallet()));

program
  .command("scale")
  .description("at how many messages a second each resource of a stage ends, for a mix of traffic")
  .option("--carrier-seconds <seconds>", "a carrier's response", Number, 0.3)
  .option("--receipts <share>", "messages with a receipt of its own", Number, 1)
  .option("--webhooks <share>", "messages with a webhook", Number, 0.3)
  .option("--failures <share>", "messages that fail", Number, 0.02)
  .option("--kinds <count>", "combinations of carrier, country and class", Number, 60)
  .option("--seed <number>", "seed of the simulation", Number, 1)
  .action(async ({ seed, ...mix }: Mix & { seed: number }) => end(await benchmarkScale(mix, seed)));

await program.parseAsync();

function withFigureOptions(command: Command): Command {
  return command
    .option("--json", "print the figures as one JSON array")
    .option("--quick", "measure less of it");
}

/** Runs suites one after another, and prints what they have measured. */
async function report(
  chosen: readonly Suite[],
  { json: isJson = false, quick: isQuick = false }: { readonly json?: boolean; readonly quick?: boolean },
): Promise<never> {
  const figures: Figure[] = [];
  for (const suite of chosen) {
    figures.push(...(await suite({ isQuick }, (text) => void process.stderr.write(`${text}\n`))));
  }
  print(isJson ? JSON.stringify(figures, undefined, 2) : tableOfFigures(figures));
  return end(true);
}

function end(holds: boolean): never {
  process.exit(holds ? 0 : 1);
}
