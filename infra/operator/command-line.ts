import { releaseText } from "@sms-gateway/build/release/release.ts";
import { stageNamed, type Stage } from "@sms-gateway/stack/stages/stage.ts";
import { Argument, Command, CommanderError, InvalidArgumentError } from "commander";

import { editDistance, validationMessage } from "../../shared/api/contract/validation.ts";
import { approvalCommands } from "./approvals.ts";
import { auditLogCommands } from "./audit-log.ts";
import { booksCommands } from "./books.ts";
import { carrierCommands } from "./carriers.ts";
import type { OperatorCommand, Typed } from "./command.ts";
import { compareInvoice } from "./compare-invoice.ts";
import type { Context } from "./context.ts";
import { credentialCommands } from "./credentials.ts";
import { deadLetterCommands } from "./dead-letters.ts";
import { showDeliveries } from "./deliveries.ts";
import { deskCommand } from "./desk.ts";
import { destinationCommands } from "./destinations.ts";
import { eraseCommands } from "./erase.ts";
import { exportOrganization } from "./export.ts";
import { importCosts } from "./import-costs.ts";
import { exportInvoices } from "./invoices.ts";
import { findSenderId } from "./look-alikes.ts";
import { lostPaymentCommands } from "./lost-payments.ts";
import { showMargins } from "./margins.ts";
import { findMessages } from "./messages-find.ts";
import { messageCommands } from "./messages.ts";
import { numberCommands } from "./numbers.ts";
import { removeOptOut } from "./opt-outs.ts";
import { findOrganizations } from "./organizations-find.ts";
import { listOrganizations, listUnusual } from "./organizations-list.ts";
import { organizationCommands } from "./organizations.ts";
import { printable } from "./output.ts";
import { pausesOfPayments, sendingCommands } from "./pauses.ts";
import { paymentComparisonCommands } from "./payment-comparisons.ts";
import { paymentCommands } from "./payments.ts";
import { priceOverrideCommands } from "./price-overrides.ts";
import { priceCommands } from "./prices.ts";
import { reviewCommands } from "./reviews.ts";
import { routeCommands } from "./routes.ts";
import { smokeTest } from "./smoke.ts";
import { suppressionCommands } from "./suppressions.ts";
import { userCommands } from "./users.ts";
import { verificationCommands } from "./verifications.ts";
import { verifyWallets } from "./verify.ts";
import { showVersion } from "./version.ts";
import { movementCommands } from "./wallet-movements.ts";
import { walletCommands } from "./wallets.ts";

/** All commands, in the order of the help text. */
export const commands: readonly OperatorCommand[] = [
  listOrganizations,
  listUnusual,
  findOrganizations,
  ...organizationCommands,
  exportOrganization,
  ...eraseCommands,
  ...userCommands,
  ...credentialCommands,
  ...suppressionCommands,
  ...movementCommands,
  ...walletCommands,
  ...paymentCommands,
  ...paymentComparisonCommands,
  ...approvalCommands([...movementCommands, ...paymentCommands]),
  ...pausesOfPayments,
  ...lostPaymentCommands,
  verifyWallets,
  ...messageCommands,
  findMessages,
  ...reviewCommands,
  findSenderId,
  ...numberCommands,
  ...verificationCommands,
  removeOptOut,
  ...priceCommands,
  importCosts,
  ...priceOverrideCommands,
  showDeliveries,
  showMargins,
  ...booksCommands,
  exportInvoices,
  ...sendingCommands,
  ...destinationCommands,
  ...carrierCommands,
  compareInvoice,
  ...routeCommands,
  ...deadLetterCommands,
  ...auditLogCommands,
  deskCommand,
  smokeTest,
  showVersion,
];

/** A command with checked input. */
export interface CheckedCommand {
  readonly name: string;
  readonly inputs: Typed;
  /** The input for the audit log, without personal data. */
  readonly recorded: Typed;
  readonly run: (context: Context) => Promise<void>;
  /** Undefined for the gateway on this machine. */
  readonly stage: Stage | undefined;
  /** Whether it shows personal data. The audit log of an organization that the input names, by ID or email, shows it then. */
  readonly discloses: boolean;
}

/** A command that was typed correctly. */
export interface Order extends CheckedCommand {
  readonly isJson: boolean;
  /** Whether a person has to consent first. */
  readonly mustAsk: boolean;
}

/**
 * The command line. It checks all input before it connects to a gateway. Requests for help and invalid usage print their
 * text and end in a CommanderError.
 * @param canAsk whether a person can confirm on a terminal
 */
export function commandLine(canAsk: boolean, carryOut: (order: Order) => Promise<void>): Command {
  const program: Command = new Command("npm run operator --")
    .helpOption("--help", "show help for a command or a group of commands")
    .helpCommand(false)
    .option("--version", "show the version and commit of this command-line interface")
    .on("option:version", () => {
      process.stdout.write(`${releaseText()}\n`);
      throw new CommanderError(0, "commander.version", "");
    })
    .addHelpText("afterAll", "\nExit codes: 0 success, 1 failure or finding, 2 invalid usage.")
    .configureHelp({
      // Lists all commands by their full names instead of the groups.
      visibleCommands: (group) =>
        group.commands.flatMap((each) => (each.commands.length > 0 ? each.commands : each)),
      subcommandTerm: (each) =>
        each.parent === program ? each.name() : `${each.parent?.name()} ${each.name()}`,
    })
    .configureOutput({ outputError: (text, write) => write(printable(text.replace(/^error: /, ""))) })
    .exitOverride();
  rejectUnknown(program);
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
    // The schema reports a missing argument, so that all errors read the same.
    added.addArgument(new Argument(title, help).argOptional());
  }
  for (const { title, help } of options) {
    if (title.includes("<")) added.option(title, help, valueOf);
    else added.option(title, help);
  }
  if (asksFirst !== false) added.option("--yes", "skip the confirmation");
  const lines = examples.map((example) => `  ${program.name()} ${name} ${example}`.trimEnd());
  return added
    .option(
      "--stage <name>",
      "deployed stage, with your AWS credentials; default: local gateway",
      deployedStage,
    )
    .option("--json", "print one JSON object per line")
    .addHelpText("after", ["\nExamples:", ...lines].join("\n"));
}

function addGroup(name: string, program: Command): Command {
  const group = program.command(name);
  rejectUnknown(group);
  return group;
}

/** Reports an unknown command, and suggests the most similar ones by their full names. */
function rejectUnknown(level: Command): void {
  level.on("command:*", (operands: readonly string[]) => {
    const { parent } = level;
    const typed = [...(parent === null ? [] : [level.name()]), ...operands];
    // Arguments are not part of a name.
    const [both, first] = [typed.slice(0, 2).join(" "), typed[0] ?? ""];
    const nearest = nearestOf(both);
    const suggested = nearest.length > 0 ? nearest : nearestOf(first);
    const suggestion = suggested.length === 0 ? "" : ` Did you mean ${suggested.join(", or ")}?`;
    level.error(`Unknown command '${both}'.${suggestion} Use --help to list all commands.`);
  });
}

/** Returns at most three commands that differ from a misspelled one in at most two fifths of the letters, most similar first. */
function nearestOf(typed: string): string[] {
  return commands
    .map(({ name }) => ({ name, distance: editDistance(typed, name) }))
    .filter(({ name, distance }) => distance <= 0.4 * Math.max(typed.length, name.length))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

function orderOf(described: OperatorCommand, typed: Command, canAsk: boolean): Order {
  const { parameters, options, asksFirst = false } = described;
  const { stage, json, yes, ...values } = typed.opts<{ stage?: Stage; json?: true; yes?: true }>();
  const ofParameters = parameters.map(({ name }, index) => [name, typed.processedArgs[index]]);
  const inputs: Typed = { ...values, ...Object.fromEntries(ofParameters) };
  const checked = checkInput(described, inputs, stage);
  if ("problem" in checked) {
    const wrong = [...parameters, ...options].find(({ name }) => name === checked.part);
    return typed.error(`${wrong?.title.split(" ")[0]} ${checked.problem}`);
  }
  const asks = typeof asksFirst === "function" ? asksFirst(inputs) : asksFirst;
  const mustAsk = asks && stage?.keepData === true && yes !== true;
  if (mustAsk && !canAsk) {
    typed.error(`Stage ${stage.name} keeps its data, and there is no terminal to confirm on: add --yes`);
  }
  return { ...checked, isJson: json === true, mustAsk };
}

/** Checks the input of a command. @returns the command, or the first problem with the name of its part */
export function checkInput(
  { name, parameters, options, work, discloses = false }: OperatorCommand,
  inputs: Typed,
  stage: Stage | undefined,
): CheckedCommand | { readonly part: string; readonly problem: string } {
  // The schema parses the input, and returns the command with the parsed input.
  const parsed = work.safeParse(inputs, { error: validationMessage });
  if (!parsed.success) {
    const [{ path, message } = { path: [], message: "is not valid" }] = parsed.error.issues;
    // A schema's own message is more specific than "is required".
    return { part: String(path[0]), problem: message === "is required" ? "is missing" : message };
  }
  const personal = new Set(
    [...parameters, ...options].filter((each) => each.isPersonal).map((each) => each.name),
  );
  const recorded = Object.fromEntries(Object.entries(inputs).filter(([given]) => !personal.has(given)));
  return { name, inputs, recorded, run: parsed.data, stage, discloses };
}

/** Rejects an option's name as the value of the option before it. */
function valueOf(text: string): string {
  if (text.startsWith("--")) throw new InvalidArgumentError("The value is missing.");
  return text;
}

function deployedStage(name: string): Stage {
  if (name === "local") throw new InvalidArgumentError("Omit --stage for the local gateway.");
  try {
    return stageNamed(name);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
