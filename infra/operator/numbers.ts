import * as z from "zod/mini";

import { callbacksOfKinds } from "../../shared/carriers/callbacks-of-kinds.ts";
import { CarrierName, readCarriers, type CarrierRecord } from "../../shared/carriers/record.ts";
import {
  assigned,
  assignNumber,
  findNumber,
  listNumbers,
  released,
  releaseNumber,
  type NumberRecord,
  type Owners,
} from "../../shared/messages/numbers/record.ts";
import { reachesPhones, readCarrier } from "./carriers-test.ts";
import { command, Organization, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { readOrganization } from "./organization.ts";

/*
 * Which organization receives the inbound messages of a number.
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

const Number = part("<number>", "number in international form, or a short code", OwnNumber);
const Keyword = part(
  "--keyword <word>",
  "first word of the messages, for a number that several organizations share",
  z.optional(RequiredText),
);

const CarrierOfNumber = part(
  "--carrier <name>",
  "carrier of the number: messages to it that other carriers report are discarded",
  z.optional(CarrierName),
);

/** Returns the name of a carrier in its callbacks. */
function reportingName({ name, settings }: CarrierRecord): string {
  return callbacksOfKinds[settings.kind].account ?? name;
}

/** Returns these names of all real carriers, and of that in the stage's file. */
async function reportingNames({ stageCarrier }: Context): Promise<string[]> {
  const all = [...(await readCarriers()).carriers.values()];
  const real = all.filter(reachesPhones).map(reportingName);
  return [...new Set(stageCarrier === "sandbox" ? real : [stageCarrier, ...real])];
}

/**
 * Returns the carrier of a number: the given one, or else that which it has, or else the only real one.
 * @throws Error when there is no such carrier, or when none or several could be meant
 */
async function carrierOf(number: string, given: string | undefined, context: Context): Promise<string> {
  if (given !== undefined) return given === "aws" ? given : reportingName(await readCarrier(given));
  const present = (await findNumber(number))?.carrier;
  const [only, ...others] = present === undefined ? await reportingNames(context) : [present];
  if (only === undefined || others.length > 0) throw new Error("Name the carrier of the number: --carrier.");
  return only;
}

/** Warns of numbers without a carrier, at which each of several carriers could lift a STOP or forge a reply. */
export async function warnOfUnboundNumbers(context: Context): Promise<void> {
  const all = await listNumbers();
  const unbound = all.filter((each) => each.carrier === undefined && rowsOf(each).length > 0);
  if (unbound.length === 0 || (await reportingNames(context)).length < 2) return;
  context.output.aside(
    `Replies to these numbers count from each carrier: ${unbound.map(({ number }) => number).join(", ")}. ` +
      "Bind each with: numbers assign NUMBER ORGANIZATION --carrier NAME",
  );
}

const assign = command({
  name: "numbers assign",
  summary: "Assign the inbound messages of a number to an organization",
  details:
    "Without --keyword the organization receives all of them. The carrier must report inbound messages: carriers show has the " +
    "address. Only messages from the number's carrier count; --carrier can be omitted if there is only one real carrier. A person " +
    "who sends STOP opts out of the marketing of the organization, or of all that share the number.",
  examples: [
    "12025550100 ada@example.com --carrier acme --stage prod",
    "90909 ada@example.com --keyword PIZZA --carrier acme",
  ],
  asksFirst: true,
  input: z.object({ number: Number, organization: Organization, keyword: Keyword, carrier: CarrierOfNumber }),
  run: async ({ number, organization, keyword, carrier: given }, context) => {
    const { output, confirm, changed } = context;
    const { id: organizationId, name } = await readOrganization(organization);
    const carrier = await carrierOf(number, given, context);
    const assignment = { number, organizationId, keyword, carrier };
    assigned(await findNumber(number), assignment);
    const what = keyword === undefined ? "all messages" : `messages that begin with ${keyword}`;
    await confirm(`assign ${what} to ${number} to ${name} (${organizationId})`, { organizationId });
    const record = await assignNumber(assignment);
    changed(assignment);
    const lines = rowsOf(record).map((row) => [row.number, row.keyword, row.organizationId].filter(Boolean));
    output.result(record, lines.map((words) => words.join("  ")).join("\n"));
  },
});

const release = command({
  name: "numbers release",
  summary: "Release a number, or one of its keywords",
  details: "Later inbound messages are discarded. Messages that were received before are kept.",
  examples: ["12025550100 --stage prod", "90909 --keyword PIZZA"],
  asksFirst: true,
  input: z.object({ number: Number, keyword: Keyword }),
  run: async ({ number, keyword }, { output, confirm, changed }) => {
    const present = await findNumber(number);
    released(present, { number, keyword });
    const what = [number, keyword ?? ""].join(" ").trim();
    await confirm(`discard later inbound messages to ${what}`, { before: ownersOf(present) });
    const record = await releaseNumber(number, keyword);
    changed(ownersOf(record));
    output.result(record, `${what} is released`);
  },
});

const list = command({
  name: "numbers list",
  summary: "List the assigned numbers and their organizations",
  examples: ["", "--stage prod --json"],
  discloses: true,
  input: z.object({}),
  run: async (_, { output }) =>
    output.table((await listNumbers()).flatMap(rowsOf), {
      NUMBER: "number",
      KEYWORD: "keyword",
      ORGANIZATION: "organizationId",
      CARRIER: ({ carrier = "any carrier" }) => carrier,
    }),
});

/** The owners of a number, for the stage's audit log. An organization's log must not show the other owners. */
function ownersOf({ organizationId, carrier, keywords = {} }: Partial<Owners> = {}): Partial<Owners> {
  return { organizationId, carrier, ...(Object.keys(keywords).length === 0 ? {} : { keywords }) };
}

/** The assignments of a number, that without a keyword first. */
function rowsOf({ number, organizationId, keywords, carrier }: NumberRecord) {
  // DynamoDB does not keep the order of a map.
  const inOrder = Object.entries(keywords).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const shared = inOrder.map(([keyword, each]) => ({ number, keyword, organizationId: each, carrier }));
  return organizationId === undefined
    ? shared
    : [{ number, keyword: "", organizationId, carrier }, ...shared];
}

export const numberCommands = [assign, release, list];
