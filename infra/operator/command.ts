import { parseArgs } from "node:util";

import * as z from "zod";

import type { Context } from "./context.ts";

/** A command was not typed as its help says. */
export class UsageError extends Error {}

interface Parameter {
  /** As help shows it, for example `<amount>`; one that ends in `…]` takes all that follow. */
  readonly placeholder: string;
  readonly help: string;
}

/** An option takes a value, unless it has no placeholder for one. */
type Option = Pick<Parameter, "help"> & Partial<Parameter>;

interface Description {
  /** Its one or two words. */
  readonly name: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** What else there is to know. */
  readonly details?: string;
  /** In their order, by the name of the input that they are. */
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly options?: Readonly<Record<string, Parameter>>;
  /** What could stand behind the command's name. */
  readonly examples: readonly string[];
  /** Whether it moves money, or changes what customers can do: a stage whose data is kept asks first. */
  readonly asksFirst?: boolean;
}

export interface Command extends Description {
  /**
   * Checks what was typed, by the name of each parameter and option.
   * @returns what carries the command out
   * @throws UsageError
   */
  readonly prepare: (typed: Readonly<Record<string, unknown>>) => (context: Context) => Promise<void>;
}

/** A command whose input a schema checks. */
export function command<Input>(
  description: Description & {
    readonly input: z.ZodType<Input>;
    readonly run: (input: Input, context: Context) => Promise<void>;
  },
): Command {
  const { input, run, ...rest } = description;
  return {
    ...rest,
    prepare: (typed) => {
      const parsed = input.safeParse(typed);
      if (parsed.success) return async (context) => run(parsed.data, context);
      const [issue] = parsed.error.issues;
      const name = String(issue?.path[0] ?? "");
      const shown = rest.parameters?.[name]?.placeholder ?? `--${name}`;
      throw new UsageError(`${shown} ${issue?.message}`);
    },
  };
}

/** Text that must be there; what a customer or a colleague reads later has a length. */
export const RequiredText = z.string("is missing").trim().min(1, "is missing").max(500, "is too long");

/** A count between 1 and a bound. */
export function count(highest: number): z.ZodType<number> {
  const rule = `must be a number from 1 to ${highest}`;
  return z
    .string(rule)
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((value) => value >= 1 && value <= highest, rule);
}

/** The parameter of all commands that are about one organisation. */
export const organizationParameter = {
  organization: { placeholder: "<organisation>", help: "its id, or the email of its user" },
};

const commonOptions: Readonly<Record<string, Option>> = {
  stage: {
    placeholder: "NAME",
    help: "a deployed stage, with your AWS credentials; without it the gateway on this machine",
  },
  json: { help: "one JSON object a line instead of text" },
  help: { help: "this text" },
};

const yesOption = { yes: { help: "do not ask, also where the data of real customers is kept" } };

interface Typed {
  readonly stage: string | undefined;
  readonly json: boolean;
  readonly yes: boolean;
  readonly help: boolean;
  /** What the command itself asks for. */
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Takes apart what stands behind a command's name.
 * @throws UsageError for an option that it does not have, and for more than it asks for
 */
export function parseTyped(described: Command, args: readonly string[]): Typed {
  const { values, positionals } = parseStrictly(described, args);
  const { stage, json, yes, help, ...options } = values;
  const input: Record<string, unknown> = options;
  const parameters = Object.entries(described.parameters ?? {});
  const [name, last] = parameters.at(-1) ?? [];
  const isOpen = last?.placeholder.endsWith("…]") === true;
  if (!isOpen && positionals.length > parameters.length) {
    throw new UsageError(`${JSON.stringify(positionals[parameters.length])} is too much`);
  }
  for (const [index, [parameter]] of parameters.entries()) input[parameter] = positionals[index];
  if (isOpen && name !== undefined) input[name] = positionals.slice(parameters.length - 1);
  return {
    stage: typeof stage === "string" ? stage : undefined,
    json: json === true,
    yes: yes === true,
    help: help === true,
    input,
  };
}

function parseStrictly(described: Command, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(optionsOf(described)).map(([name, { placeholder }]) => [
          name,
          { type: placeholder === undefined ? "boolean" : "string" },
        ]),
      ),
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function optionsOf(described: Command): Readonly<Record<string, Option>> {
  return {
    ...described.options,
    ...(described.asksFirst === true ? yesOption : {}),
    ...commonOptions,
  };
}

/** The help of one command. */
export function helpOf(described: Command): string {
  const { name, summary, details, examples } = described;
  const parameters = Object.values(described.parameters ?? {});
  const options = Object.entries(optionsOf(described));
  const usage = [name, ...parameters.map(({ placeholder }) => placeholder), "[options]"].join(" ");
  return [
    `Usage: npm run operator -- ${usage}`,
    `${summary}.${details === undefined ? "" : `\n${details}`}`,
    ...(parameters.length === 0
      ? []
      : [section("Arguments", new Map(parameters.map(({ placeholder, help }) => [placeholder, help])))]),
    section(
      "Options",
      new Map(
        options.map(([option, { placeholder, help }]) => [
          `--${option}${placeholder === undefined ? "" : ` ${placeholder}`}`,
          help,
        ]),
      ),
    ),
    `Examples:\n${examples.map((example) => `  npm run operator -- ${`${name} ${example}`.trim()}`).join("\n")}`,
  ].join("\n\n");
}

/** The help of all commands, one line each. */
export function overview(commands: readonly Command[]): string {
  return [
    "Usage: npm run operator -- <command> [options]",
    section("Commands", new Map(commands.map(({ name, summary }) => [name, summary]))),
    "<command> --help explains its arguments and options. Exit codes: 0 done, 1 failed or found something, " +
      "2 typed wrongly.",
  ].join("\n\n");
}

function section(title: string, lines: ReadonlyMap<string, string>): string {
  const width = Math.max(...[...lines.keys()].map((name) => name.length));
  return [`${title}:`, ...[...lines].map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)].join("\n");
}
