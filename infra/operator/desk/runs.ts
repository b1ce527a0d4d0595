import { createHash, randomUUID } from "node:crypto";

import type { Stage } from "@sms-gateway/stack/stages/stage.ts";
import * as z from "zod/mini";

import { RejectedError } from "../../../shared/platform/rejected-error.ts";
import { checkInput, type CheckedCommand } from "../command-line.ts";
import type { OperatorCommand } from "../command.ts";
import type { Connection } from "../context.ts";
import { errorText } from "../error-text.ts";
import { printable } from "../output.ts";
import { execute } from "../run.ts";
import { CollectedOutput } from "./collected-output.ts";
import { pages } from "./pages.ts";
import type { Response, ShownCommand } from "./protocol.ts";

export interface DeskOptions {
  readonly commands: readonly OperatorCommand[];
  readonly stage: Stage | undefined;
  readonly connection: Connection;
  /** The operator's identity, as the audit log has it. */
  readonly identity: string;
  /** The files of the pages by their names. */
  readonly files: ReadonlyMap<string, string>;
}

const lines = pages.flatMap(({ actions: ofPage = [], panels }) => [
  ...ofPage,
  ...panels.flatMap(({ line, actions = [], rowActions = [] }) => [line, ...actions, ...rowActions]),
]);

/** Parts that set the table, read standard input, or print a secret or a format for programs. */
const onlyOnCommandLine: ReadonlySet<string> = new Set(["callbacks", "csv", "secretStdin", "table"]);

/** The commands that the pages name, with the parts that the desk offers. */
export function offeredCommands(commands: readonly OperatorCommand[]): ShownCommand[] {
  const isNamed = ({ name }: OperatorCommand): boolean =>
    lines.some((line) => `${line.replace(/^.*: /, "")} `.startsWith(`${name} `));
  return commands.filter(isNamed).map(({ name, summary, details = "", parameters, options }) => {
    const parts = [...parameters, ...options].filter((part) => !onlyOnCommandLine.has(part.name));
    return { name, summary, details, parts };
  });
}

const RunRequest = z.object({
  command: z.string(),
  input: z.record(z.string(), z.union([z.string(), z.boolean()])),
  /** A question, and the text that the operator has typed. */
  consent: z.optional(z.object({ ticket: z.string(), typed: z.string() })),
});

const hasChanged = "This question is another one than the one you confirmed, and nothing was done:\n\n";

/** A question to the operator, and the response to the request that confirmed it: a repeated request gets it too. */
interface Asked {
  readonly digest: string;
  response?: Promise<Response>;
}

/**
 * Returns a function that runs commands for the pages. A change needs two requests: the response to the first has the
 * question. The second has the text that the operator typed, and is done once, however often it arrives. If the question or
 * the output before it has changed meanwhile, the operator has to confirm the new one.
 */
export function runsOf({ commands, stage, connection }: DeskOptions): (body: unknown) => Promise<Response> {
  const allAsked = new Map<string, Asked>();
  let isChanging = false;
  const perform = async (
    checked: CheckedCommand,
    { input, consent }: z.infer<typeof RunRequest>,
    asked?: Asked,
  ): Promise<Response> => {
    const collected = new CollectedOutput(false);
    const output = collected.pieces;
    let isAgreed = false;
    let question: Response | undefined;
    const confirm = async (text: string, typed: string, what: string): Promise<void> => {
      const whole = JSON.stringify([checked.name, input, output, what, typed]);
      const digest = createHash("sha256").update(whole).digest("hex");
      const again = consent === undefined || digest === asked?.digest ? "" : hasChanged;
      if (digest !== asked?.digest || consent?.typed.trim() !== typed) {
        const ticket = randomUUID();
        allAsked.set(ticket, { digest });
        question = { state: "question", output, question: printable(`${again}${text}`), typed, ticket };
      }
      if (question !== undefined) throw new RejectedError("The operator has to confirm it first.");
      if (isChanging) throw new RejectedError("Nothing was changed: another change is in progress.");
      isChanging = true;
      isAgreed = true;
    };
    try {
      await execute(checked, connection, collected, confirm);
      return { state: "done", output };
    } catch (error) {
      return question ?? { state: "failed", output, problem: printable(errorText(error)) };
    } finally {
      if (isAgreed) isChanging = false;
      // Nothing was done, so that the question can be confirmed again.
      else delete asked?.response;
      // A command sets it for a finding, which the page shows. It is not the exit code of the desk.
      process.exitCode = undefined;
    }
  };
  return async (body) => {
    const request = RunRequest.parse(body);
    const { command: name, input, consent } = request;
    const command = commands.find((each) => each.name === name);
    const [offered] = command === undefined ? [] : offeredCommands([command]);
    const isOffered = (given: string): boolean => offered?.parts.some((part) => part.name === given) === true;
    if (command === undefined || offered === undefined || !Object.keys(input).every(isOffered)) {
      throw new Error(`The desk does not offer this: ${name} ${Object.keys(input).join(" ")}`);
    }
    const checked = checkInput(command, input, stage);
    if ("problem" in checked) return { state: "failed", output: [], ...checked };
    const asked = consent && allAsked.get(consent.ticket);
    if (asked === undefined) return perform(checked, request);
    asked.response ??= perform(checked, request, asked);
    return asked.response;
  };
}
