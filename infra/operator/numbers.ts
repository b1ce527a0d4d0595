import * as z from "zod/mini";

import {
  assigned,
  assignNumber,
  findNumber,
  listNumbers,
  released,
  releaseNumber,
  type NumberRecord,
  type Owners,
} from "../../shared/numbers/record.ts";
import { command, Organization, part, RequiredText } from "./command.ts";
import { readOrganization } from "./organizations.ts";

/*
 * Whose the messages are that come to a number.
 */

const OwnNumber = z.pipe(
  z.pipe(
    z.string("is missing"),
    z.transform((text) => text.replace(/^\+/, "")),
  ),
  z
    .string()
    .check(z.regex(/^\d{3,15}$/, "must be 3 to 15 digits: a number in international form, or a short code")),
);

const Number = part("<number>", "in international form, or a short code", OwnNumber);
const Keyword = part(
  "--keyword <word>",
  "of a number that several share: the word that its messages begin with",
  z.optional(RequiredText),
);

const assign = command({
  name: "numbers assign",
  summary: "Give an organisation the messages that come to a number",
  details:
    "Alone, or with a keyword where several share it. The carrier has to report what comes to the number: carriers show has " +
    "the address. Whoever answers STOP there gets no more marketing of the organisation, or of all that share the number.",
  examples: ["12025550100 ada@example.com --stage prod", "90909 ada@example.com --keyword PIZZA"],
  asksFirst: true,
  input: z.object({ number: Number, organization: Organization, keyword: Keyword }),
  run: async ({ number, organization, keyword }, { output, confirm, changed }) => {
    const { id: organizationId, name } = await readOrganization(organization);
    const assignment = { number, organizationId, keyword };
    assigned(await findNumber(number), assignment);
    const what = keyword === undefined ? "all messages" : `messages that begin with ${keyword}`;
    await confirm(`give ${what} to ${number} to ${name} (${organizationId})`, { organizationId });
    const record = await assignNumber(assignment);
    changed(assignment);
    output.result(record, rowsOf(record).map(textOf).join("\n"));
  },
});

const release = command({
  name: "numbers release",
  summary: "Take a number, or its keyword, from whoever has it",
  details: "What comes to it from then on is nobody's, and is not kept. What has come stays where it is.",
  examples: ["12025550100 --stage prod", "90909 --keyword PIZZA"],
  asksFirst: true,
  input: z.object({ number: Number, keyword: Keyword }),
  run: async ({ number, keyword }, { output, confirm, changed }) => {
    const present = await findNumber(number);
    released(present, { number, keyword });
    const what = [number, keyword ?? ""].join(" ").trim();
    await confirm(`keep no messages any more that come to ${what}`, { before: ownersOf(present) });
    const record = await releaseNumber(number, keyword);
    changed(ownersOf(record));
    output.result(record, `${what} is nobody's`);
  },
});

const list = command({
  name: "numbers list",
  summary: "List the numbers, and whose the messages are that come to them",
  examples: ["", "--stage prod --json"],
  input: z.object({}),
  run: async (_, { output }) =>
    output.table((await listNumbers()).flatMap(rowsOf), [
      { heading: "NUMBER", text: ({ number }) => number },
      { heading: "KEYWORD", text: ({ keyword }) => keyword },
      { heading: "ORGANISATION", text: ({ organizationId }) => organizationId },
    ]),
});

/** Whose a number is, for the audit log of the stage: that of an organisation does not tell of others. */
function ownersOf({ organizationId, keywords = {} }: Partial<Owners> = {}): Partial<Owners> {
  return { organizationId, ...(Object.keys(keywords).length === 0 ? {} : { keywords }) };
}

interface Row {
  readonly number: string;
  readonly keyword: string;
  readonly organizationId: string;
}

function rowsOf({ number, organizationId, keywords }: NumberRecord): Row[] {
  // The table keeps no order in a map.
  const inOrder = Object.entries(keywords).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const shared = inOrder.map(([keyword, each]) => ({ number, keyword, organizationId: each }));
  return organizationId === undefined ? shared : [{ number, keyword: "", organizationId }, ...shared];
}

function textOf({ number, keyword, organizationId }: Row): string {
  return [number, keyword, organizationId].filter((each) => each !== "").join("  ");
}

export const numberCommands = [assign, release, list];
