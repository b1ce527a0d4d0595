import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

/*
 * The tables of `test/cases/`: what people and programs really write, and what the gateway has to make of it.
 */

/** The kinds of cases, by the suite that runs them. */
const suites = {
  unit: [
    "carrier response",
    "code",
    "contact",
    "document",
    "email header",
    "import",
    "inbound fields",
    "invoice",
    "locale",
    "numbering plan",
    "operator file",
    "placeholder",
    "receipt fields",
    "request",
    "round trip",
    "saved file",
    "search",
    "segments",
    "stage",
    "stop",
    "tax",
    "template",
    "test",
    "typed number",
  ],
  system: ["inbound call", "receipt call", "steps"],
  browser: ["link"],
} as const satisfies Record<string, readonly string[]>;

type Suite = keyof typeof suites;
export type KindOf<Of extends Suite> = (typeof suites)[Of][number];

const kinds: ReadonlySet<string> = new Set(Object.values(suites).flat());

const Case = z.strictObject({
  id: z.string(),
  /** The public report or the document that has the input. */
  source: z.string(),
  kind: z.string().check(z.refine((kind) => kinds.has(kind), "is run by no suite")),
  input: z.record(z.string(), z.unknown()),
  /** A regular expression for what the kind of case reports. */
  expected: z.string(),
  why: z.string(),
});
type Case = z.infer<typeof Case>;

const folder = path.join(import.meta.dirname, "../cases");

/** All cases of the tables. @throws Error for a row that is wrong, or an id that two rows have */
function allCases(): Case[] {
  const files = readdirSync(folder).filter(
    (name) => name.endsWith(".json") && name !== "example-numbers.json",
  );
  const rows = files.flatMap((name) => {
    const text = readFileSync(path.join(folder, name), "utf8");
    if (/\p{Cf}/u.test(text)) throw new Error(`${name} has an invisible character: write it as an escape`);
    return z.array(Case).parse(JSON.parse(text));
  });
  const ids = new Set<string>();
  for (const { id } of rows) {
    if (ids.has(id)) throw new Error(`two cases have the id ${id}`);
    ids.add(id);
  }
  return rows;
}

/** The cases that a suite runs, with the name of each test. */
export function casesOf<Of extends Suite>(
  suite: Of,
): (Case & { readonly kind: KindOf<Of>; readonly title: string })[] {
  const isOfSuite = (row: Case): row is Case & { kind: KindOf<Of> } =>
    suites[suite].some((kind) => kind === row.kind);
  return allCases()
    .filter(isOfSuite)
    .map((row) => ({ ...row, title: `${row.id}: ${row.why}` }));
}
