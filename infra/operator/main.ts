import { stageNamed, type Stage } from "../stages.ts";
import { UsageError, helpOf, overview, parseTyped, type Command } from "./command.ts";
import { commands } from "./commands.ts";
import { agrees, connect } from "./context.ts";
import { Output } from "./output.ts";

// `npm run operator -- <command>`: what only the operator of a gateway may do.

const args = process.argv.slice(2);
const firstOption = args.findIndex((arg) => arg.startsWith("-"));
const words = args.slice(0, firstOption === -1 ? args.length : firstOption);

// Whoever reads the results may have had enough of them.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
});

try {
  await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(): Promise<void> {
  const command = commands.find(({ name }) => words.slice(0, name.split(" ").length).join(" ") === name);
  if (command === undefined) {
    const ofGroup = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
    const text = overview(ofGroup.length > 0 ? ofGroup : commands);
    if (!args.includes("--help")) throw new UsageError(text);
    process.stdout.write(`${text}\n`);
    return;
  }
  const { help, ...typed } = parseTyped(command, args.slice(command.name.split(" ").length));
  if (help) process.stdout.write(`${helpOf(command)}\n`);
  else await carryOut(command, typed);
}

async function carryOut(command: Command, typed: Omit<ReturnType<typeof parseTyped>, "help">): Promise<void> {
  const run = command.prepare(typed.input);
  const stage = typed.stage === undefined ? undefined : deployedStage(typed.stage);
  const mustAsk = command.asksFirst === true && stage?.keepData === true && !typed.yes;
  if (mustAsk && !process.stdin.isTTY) {
    throw new UsageError(
      `${stage.name} keeps the data of real customers and there is no terminal to ask on: add --yes`,
    );
  }
  const output = new Output(typed.json);
  await run({
    output,
    stackOutput: await connect(stage),
    confirm: async (what, answer) => {
      if (mustAsk && !(await agrees(`On stage ${stage.name}: ${what}`, answer))) {
        throw new Error("Nothing was changed.");
      }
    },
  });
  output.endProgress();
}

function deployedStage(name: string): Stage {
  if (name === "local") throw new UsageError("local is the gateway on this machine: leave --stage out");
  try {
    return stageNamed(name);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The SDK's errors of a connection that failed say where, but not always in words.
  return error.message === "" ? error.name : error.message;
}
