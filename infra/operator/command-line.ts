import { stageNamed, type Stage } from "../stages.ts";
import { helpOf, overview, parseTyped, UsageError, type Command } from "./command.ts";
import { commands } from "./commands.ts";
import type { Context } from "./context.ts";

/** A command that was typed as its help says. */
interface Order {
  readonly run: (context: Context) => Promise<void>;
  /** Undefined for the gateway on this machine. */
  readonly stage: Stage | undefined;
  readonly isJson: boolean;
  /** Whether a person has to agree first. */
  readonly mustAsk: boolean;
}

/**
 * Understands what was typed, without a look at any gateway.
 * @param canAsk whether there is a terminal with somebody at it
 * @throws UsageError
 */
export function readCommandLine(args: readonly string[], canAsk: boolean): Order | { readonly help: string } {
  const command = commands.find(({ name }) => args.slice(0, wordsOf(name)).join(" ") === name);
  if (command === undefined) {
    const ofGroup = commands.filter(({ name }) => name.startsWith(`${args[0]} `));
    const help = overview(ofGroup.length > 0 ? ofGroup : commands);
    if (args.includes("--help")) return { help };
    throw new UsageError(help);
  }
  const typed = parseTyped(command, args.slice(wordsOf(command.name)));
  if (typed.help) return { help: helpOf(command) };
  const run = command.prepare(typed.input);
  const stage = typed.stage === undefined ? undefined : deployedStage(typed.stage);
  const mustAsk = !typed.yes && asksOn(stage, command);
  if (mustAsk && !canAsk) {
    throw new UsageError(
      `${stage?.name} keeps the data of real customers, and there is no terminal to ask on: add --yes`,
    );
  }
  return { run, stage, isJson: typed.json, mustAsk };
}

function wordsOf(name: string): number {
  return name.split(" ").length;
}

/** A stage whose data outlives it has real customers. */
function asksOn(stage: Stage | undefined, { asksFirst = false }: Command): boolean {
  return asksFirst && stage?.keepData === true;
}

function deployedStage(name: string): Stage {
  if (name === "local") throw new UsageError("local is the gateway on this machine: leave --stage out");
  try {
    return stageNamed(name);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
