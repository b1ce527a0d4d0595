import { Argument, Command, InvalidArgumentError } from "commander";

import { validationMessage } from "../../shared/contract/validation.ts";
import { stageNamed, type Stage } from "../stages/stage.ts";
import { auditLogCommands } from "./audit-log.ts";
import { auditCommands } from "./audit.ts";
import { carrierCommands } from "./carriers.ts";
import type { OperatorCommand, Typed } from "./command.ts";
import type { Context } from "./context.ts";
import { deadLetterCommands } from "./dead-letters.ts";
import { emailCommands } from "./emails.ts";
import { eraseCommands } from "./erase.ts";
import { exportOrganization } from "./export.ts";
import { marginCommands } from "./margins.ts";
import { messageCommands } from "./messages.ts";
import { nearestOf } from "./nearest.ts";
import { numberCommands } from "./numbers.ts";
import { optOutCommands } from "./opt-outs.ts";
import { listOrganizations } from "./organizations-list.ts";
import { organizationCommands } from "./organizations.ts";
import { printable } from "./output.ts";
import { priceCommands } from "./prices.ts";
import { reviewCommands } from "./reviews.ts";
import { routeCommands } from "./routes.ts";
import { sendingCommands } from "./sending.ts";
import { userCommands } from "./users.ts";
import { versionCommands } from "./version.ts";
import { walletCommands } from "./wallet.ts";

/** All commands, in the order that help lists them. */
export const commands: readonly OperatorCommand[] = [
  listOrganizations,
  ...organizationCommands,
  exportOrganization,
  ...eraseCommands,
  ...userCommands,
  ...emailCommands,
  ...walletCommands,
  ...messageCommands,
  ...reviewCommands,
  ...numberCommands,
  ...optOutCommands,
  ...priceCommands,
  ...marginCommands,
  ...sendingCommands,
  ...carrierCommands,
  ...routeCommands,
  ...deadLetterCommands,
  ...auditCommands,
  ...auditLogCommands,
  ...versionCommands,
];

/** A command that was typed as its help says. */
export interface Order {
  /** The command's name. */
  readonly name: string;
  /** What was typed, but for what the audit log must not have. */
  readonly recorded: Typed;
  readonly run: (context: Context) => Promise<void>;
  /** Undefined for the gateway on this machine. */
  readonly stage: Stage | undefined;
  readonly isJson: boolean;
  /** Whether a person has to agree first. */
  readonly mustAsk: boolean;
}

/**
 * The command line. It understands all that was typed, without a look at any gateway, before it hands on an order, and
 * says by itself what was typed wrongly and what help was asked for: these end in a CommanderError.
 * @param canAsk whether there is a terminal with somebody at it
 */
export function commandLine(canAsk: boolean, carryOut: (order: Order) => Promise<void>): Command {
  const program: Command = new Command("npm run operator --")
    .helpOption("--help", "explain a command with examples, or list those of a group")
    .helpCommand(false)
    .addHelpText("afterAll", "\nExit codes: 0 done, 1 failed or found something, 2 typed wrongly.")
    .configureHelp({
      // All commands by their whole names, so that nobody has to look into every group.
      visibleCommands: (group) =>
        group.commands.flatMap((each) => (each.commands.length > 0 ? each.commands : each)),
      subcommandTerm: (each) =>
        each.parent === program ? each.name() : `${each.parent?.name()} ${each.name()}`,
    })
    .configureOutput({ outputError: (text, write) => write(printable(text.replace(/^error: /, ""))) })
    .exitOverride();
  refuseUnknown(program);
  for (const each of commands) {
    const added = add(each, program);
    added.action(async () => carryOut(orderOf(each, added, canAsk)));
  }
  return program;
}

function add(described: OperatorCommand, program: Command): Command {
  const { name, summary, details = "", parameters, options, asksFirst = false, examples } = described;
  const [word = "", groupName] = name.split(" ").toReversed();
  const group = program.commands.find((each) => each.name() === groupName);
  const parent = groupName === undefined ? program : (group ?? addGroup(groupName, program));
  const added = parent
    .command(word)
    .summary(summary)
    .description(`${summary}.\n${details}`.trim())
    .usage([...parameters.map(({ title }) => title), "[options]"].join(" "))
    .showSuggestionAfterError();
  for (const { title, help } of parameters) {
    // Whether it is missing is checked with its schema, so that the error reads like all others.
    added.addArgument(new Argument(title, help).argOptional());
  }
  for (const { title, help } of options) {
    if (title.includes("<")) added.option(title, help, valueOf);
    else added.option(title, help);
  }
  if (asksFirst) added.option("--yes", "do not ask, also where the data of real customers is kept");
  const stageHelp = "a deployed stage, with your AWS credentials; without it the gateway on this machine";
  const lines = examples.map((example) => `  ${program.name()} ${name} ${example}`.trimEnd());
  return added
    .option("--stage <name>", stageHelp, deployedStage)
    .option("--json", "one JSON object a line instead of text")
    .addHelpText("after", ["\nExamples:", ...lines].join("\n"));
}

function addGroup(name: string, program: Command): Command {
  const group = program.command(name);
  refuseUnknown(group);
  return group;
}

/** Answers a command that is not known with the nearest ones, by their whole names. */
function refuseUnknown(level: Command): void {
  level.on("command:*", (operands: readonly string[]) => {
    const { parent } = level;
    const typed = [...(parent === null ? [] : [level.name()]), ...operands];
    const names = commands.map(({ name }) => name);
    // Only the words of a command are compared, not what follows them.
    const [both, first] = [typed.slice(0, 2).join(" "), typed[0] ?? ""];
    const nearest = nearestOf(both, names);
    const suggested = nearest.length > 0 ? nearest : nearestOf(first, names);
    const suggestion = suggested.length === 0 ? "" : `; did you mean ${suggested.join(", or ")}?`;
    level.error(`unknown command '${both}'${suggestion} --help lists all commands.`);
  });
}

function orderOf(described: OperatorCommand, typed: Command, canAsk: boolean): Order {
  const { parameters, options, work, asksFirst = false } = described;
  const { stage, json, yes, ...values } = typed.opts<{ stage?: Stage; json?: true; yes?: true }>();
  const ofParameters = parameters.map(({ name }, index) => [name, typed.processedArgs[index]]);
  const inputs: Typed = { ...values, ...Object.fromEntries(ofParameters) };
  const run = work.safeParse(inputs, { error: validationMessage });
  if (!run.success) {
    const [issue] = run.error.issues;
    const wrong = [...parameters, ...options].find(({ name }) => name === issue?.path[0]);
    // Some schemas say what they take instead, which helps more.
    const problem = issue?.message === "is required" ? "is missing" : issue?.message;
    return typed.error(`${wrong?.title.split(" ")[0]} ${problem}`);
  }
  const mustAsk = asksFirst && stage?.keepData === true && yes !== true;
  if (mustAsk && !canAsk) {
    typed.error(
      `${stage.name} keeps the data of real customers, and there is no terminal to ask on: add --yes`,
    );
  }
  const personal = new Set(
    [...parameters, ...options].filter((each) => each.isPersonal).map(({ name }) => name),
  );
  const recorded = Object.fromEntries(Object.entries(inputs).filter(([name]) => !personal.has(name)));
  return { name: described.name, recorded, run: run.data, stage, isJson: json === true, mustAsk };
}

/** An option that swallowed the next one has no value. */
function valueOf(text: string): string {
  if (text.startsWith("--")) throw new InvalidArgumentError("It looks like an option.");
  return text;
}

function deployedStage(name: string): Stage {
  if (name === "local") {
    throw new InvalidArgumentError("It is the gateway on this machine: leave --stage out.");
  }
  try {
    return stageNamed(name);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
