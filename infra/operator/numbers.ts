import * as z from "zod";

import { assignNumber, listNumbers, releaseNumber, type NumberRecord } from "../../shared/numbers/record.ts";
import { command, Organization, part, RequiredText } from "./command.ts";
import { readOrganization } from "./organizations.ts";

/*
 * Whose the messages are that come to a number.
 */

const OwnNumber = z
  .string("is missing")
  .transform((text) => text.replace(/^\+/, ""))
  .pipe(
    z.string().regex(/^\d{3,15}$/, "must be 3 to 15 digits: a number in international form, or a short code"),
  );

const Number = part("<number>", "in international form, or a short code", OwnNumber);
const Keyword = part(
  "--keyword <word>",
  "of a number that several share: the word that its messages begin with",
  RequiredText.optional(),
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
    const what = keyword === undefined ? "all messages" : `messages that begin with ${keyword}`;
    await confirm(`give ${what} to ${number} to ${name} (${organizationId})`, { organizationId });
    const record = await assignNumber({ number, organizationId, keyword });
    changed({ number, organizationId, keyword });
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
    await confirm(`keep no messages any more that come to ${[number, keyword ?? ""].join(" ").trim()}`);
    const record = await releaseNumber(number, keyword);
    changed({ number, keyword });
    output.result(record, `${[number, keyword ?? ""].join(" ").trim()} is nobody's`);
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

interface Row {
  readonly number: string;
  readonly keyword: string;
  readonly organizationId: string;
}

function rowsOf({ number, organizationId, keywords }: NumberRecord): Row[] {
  const shared = Object.entries(keywords).map(([keyword, each]) => ({
    number,
    keyword,
    organizationId: each,
  }));
  return organizationId === undefined ? shared : [{ number, keyword: "", organizationId }, ...shared];
}

function textOf({ number, keyword, organizationId }: Row): string {
  return [number, keyword, organizationId].filter((each) => each !== "").join("  ");
}

export const numberCommands = [assign, release, list];
