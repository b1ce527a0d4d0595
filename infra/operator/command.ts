import * as z from "zod/mini";

import { dayMs, now } from "../../shared/platform/clock.ts";
import type { Context } from "./context.ts";

interface Description {
  /** A plural noun and a verb, or one word. The noun is the command's group. */
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  /** Examples of the words after the command's name. */
  readonly examples: readonly string[];
  /** Whether it moves money or changes what customers can do: a stage that keeps its data asks first. */
  readonly asksFirst?: boolean | ((typed: Typed) => boolean);
  /** Whether it shows personal data of customers: the audit log gets an entry before it reads any. */
  readonly discloses?: boolean;
}

/** A part of a command's input, as help shows it. */
interface Part {
  readonly name: string;
  readonly title: string;
  readonly help: string;
  readonly isPersonal: boolean;
}

/** The text that was typed for each part of a command's input. */
export type Typed = Readonly<Record<string, unknown>>;

/** A command, as help and the command line need it. */
export interface OperatorCommand extends Description {
  readonly parameters: readonly Part[];
  readonly options: readonly Part[];
  /** Checks the input, and returns the function that executes the command. */
  readonly work: z.ZodMiniType<(context: Context) => Promise<void>>;
}

/** A command, whose input consists of parts: see {@link part}. */
export function command<Input extends Readonly<Record<string, z.ZodMiniType>>>({
  input,
  run,
  ...description
}: Description & {
  readonly input: z.ZodMiniObject<Input>;
  readonly run: (input: z.output<z.ZodMiniObject<Input>>, context: Context) => Promise<void>;
}): OperatorCommand {
  const parts = Object.entries(input.shape).map(([name, schema]) => {
    const { title = "", description: help = "", isPersonal } = z.globalRegistry.get(schema) ?? {};
    return { name, title, help, isPersonal: isPersonal === true };
  });
  return {
    ...description,
    parameters: parts.filter(({ title }) => !title.startsWith("--")),
    options: parts.filter(({ title }) => title.startsWith("--")),
    work: z.pipe(
      input,
      z.transform((checked) => async (context: Context) => run(checked, context)),
    ),
  };
}

/**
 * A part of a command's input.
 * @param title its syntax, in commander's notation: `<amount>` is a parameter, `[organization...]` any number of them.
 * `--reason <text>` is an option for the part named `reason`, and `--shared` is a flag.
 */
export function part<Schema extends z.ZodMiniType>(title: string, help: string, schema: Schema): Schema {
  return schema.check(z.meta({ title, description: help }));
}

/** A part that may identify a person: the audit log, whose entries are never deleted, leaves it out. */
export function personal<Schema extends z.ZodMiniType>(title: string, help: string, schema: Schema): Schema {
  return schema.check(z.meta({ title, description: help, isPersonal: true }));
}

/** An option without a value. */
export function flag(title: string, help: string): z.ZodMiniType<boolean> {
  return part(title, help, z._default(z.boolean(), false));
}

/** The option that limits how many rows a command lists or processes. */
export function limit(usual: number, highest: number, of: string): z.ZodMiniType<number> {
  const help = `number of ${of}: ${usual} by default, at most ${highest}`;
  return part("--limit <number>", help, z._default(count(highest), usual));
}

/** A count between 1 and a bound. */
export function count(highest: number): z.ZodMiniType<number> {
  const rule = `must be a number from 1 to ${highest}`;
  return z
    .pipe(z.string(rule).check(z.regex(/^\d{1,9}$/, rule)), z.transform(Number))
    .check(z.refine((value) => value >= 1 && value <= highest, rule));
}

/** Text that must not be empty. Customers and other operators may read it, so its length is limited. */
export const RequiredText = z
  .string("is missing")
  .check(z.trim(), z.minLength(1, "is missing"), z.maxLength(500, "is too long"));

const idOrEmail = "organization ID, or the email of one of its users";

/** The organization that a command is about. The audit log has its ID. */
export const Organization = personal("<organization>", idOrEmail, RequiredText);

/** Any number of organizations. */
export const Organizations = personal(
  "[organization...]",
  "organization IDs or emails of users; default: all that have a wallet",
  z.array(z.string()),
);

const optionTitle = "--organization <organization>";
export const OrganizationOption = personal(optionTitle, idOrEmail, z.optional(RequiredText));
export const RequiredOrganizationOption = personal(optionTitle, idOrEmail, RequiredText);

/** A reason that other operators see and customers do not. */
export const Reason = part("--reason <text>", "reason, shown to operators only", RequiredText);
export const OptionalReason = part(
  "--reason <text>",
  "reason, kept in the audit log",
  z.optional(RequiredText),
);

/** A reason that the customer reads. */
export const PublicReason = part("--reason <text>", "reason, shown to the customer", RequiredText);

const sinceRule = "must be days such as 7d, a day such as 2026-03-01, or a time such as 2026-03-01T09:30:00Z";
const Days = z.string().check(z.regex(/^\d{1,4}d$/));
const Since = z.pipe(
  z.union([Days, z.iso.date(), z.iso.datetime({ offset: true })], sinceRule),
  z.transform((text) => (text.endsWith("d") ? daysAgo(Number.parseInt(text, 10)) : new Date(text))),
);
export const SinceOption = part("--since <time>", "days such as 7d, first day or time", z.optional(Since));

export const UntilOption = part(
  "--until <time>",
  "days such as 7d, or the day or time at which it ends, which is left out",
  z.optional(Since),
);

/** Returns the moment some days ago. */
export function daysAgo(days: number): Date {
  return new Date(now().getTime() - days * dayMs);
}
