import * as z from "zod/mini";

import type { Context } from "./context.ts";

interface Description {
  /** Its one or two words; the first of two is its group. */
  readonly name: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** What else there is to know. */
  readonly details?: string;
  /** What could stand behind the command's name. */
  readonly examples: readonly string[];
  /** Whether it moves money, or changes what customers can do: a stage whose data is kept asks first. */
  readonly asksFirst?: boolean;
}

/** What help says about a part of a command's input, by the name that it has there. */
interface Part {
  readonly name: string;
  readonly title: string;
  readonly help: string;
  readonly isPersonal: boolean;
}

/** What was typed for each part of a command's input. */
export type Typed = Readonly<Record<string, unknown>>;

/** A command, as help and the command line need it. */
export interface OperatorCommand extends Description {
  /** In their order. */
  readonly parameters: readonly Part[];
  readonly options: readonly Part[];
  /** Makes of what was typed for each part what carries the command out. */
  readonly work: z.ZodMiniType<(context: Context) => Promise<void>>;
}

/** A command, whose input is made of parts: see {@link part}. */
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
 * @param title how it is typed, in the notation of commander: `<amount>` is a parameter, `[organisation...]` takes all
 * that follow, `--reason <text>` is the option for the part of the name `reason`, and `--shared` is one that is given or not
 * @param help what it is for
 * @param isPersonal whether it may tell of a person: the audit log, which keeps what it has, does not get it
 */
export function part<Schema extends z.ZodMiniType>(
  title: string,
  help: string,
  schema: Schema,
  { isPersonal = false }: { readonly isPersonal?: boolean } = {},
): Schema {
  return schema.check(z.meta({ title, description: help, isPersonal }));
}

/** Text that must be there; what a customer or a colleague reads later has a length. */
export const RequiredText = z
  .string("is missing")
  .check(z.trim(), z.minLength(1, "is missing"), z.maxLength(500, "is too long"));

/** What all commands that are about one organisation ask for; an entry of the audit log has its id. */
export const Organization = part("<organisation>", "its id, or the email of its user", RequiredText, {
  isPersonal: true,
});

/** Why something that an operator had stopped goes on. The audit log keeps it, as all that is typed. */
export const WhyAgain = part("--reason <text>", "why; kept in the audit log", z.optional(RequiredText));

/** A count between 1 and a bound. */
export function count(highest: number): z.ZodMiniType<number> {
  const rule = `must be a number from 1 to ${highest}`;
  return z
    .pipe(z.string(rule).check(z.regex(/^\d{1,9}$/, rule)), z.transform(Number))
    .check(z.refine((value) => value >= 1 && value <= highest, rule));
}
