import * as z from "zod/mini";

import type { Keyword } from "../../api/contract/inbound.ts";
import { now } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../../platform/table/read.ts";
import { untilUndisturbed } from "../../platform/table/transact.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { noteReplies } from "../../tenancy/organizations/record.ts";
import { keywordOf, plain } from "./keywords.ts";

/*
 * The assignment of numbers for inbound messages: to one organization alone, or to several, each with a keyword that
 * the messages begin with.
 */

export const NumberRecord = z.object({
  entity: z.literal("number"),
  /** In digits: international without a plus sign, or a short code. */
  number: z.string(),
  /** The organization that has the number alone. */
  organizationId: z.optional(z.string()),
  /** The organizations that share the number, by their keywords in capital letters. */
  keywords: z._default(z.record(z.string(), z.string()), {}),
  /** The only carrier whose inbound messages count; absent if any carrier's do, as in items of 0.3.0. */
  carrier: z.optional(z.string()),
  updatedAt: z.string(),
  /** Grows with each change. */
  version: z.int(),
});
export type NumberRecord = z.infer<typeof NumberRecord>;

/** A limit above the numbers of any operator. */
const maxNumbers = 10_000;

/** The most keywords of a number, because they are in one item. */
const maxKeywords = 1_000;

/** Reads all numbers, in their order. */
export async function listNumbers(): Promise<NumberRecord[]> {
  const { pk } = keys.number("");
  return itemsOf(await queryRows(NumberRecord, { pk, limit: maxNumbers, consistent: true }));
}

/** Reads a number as it is now; undefined when it is not assigned. */
export async function findNumber(number: string): Promise<NumberRecord | undefined> {
  return findItem(NumberRecord, keys.number(number), { consistent: true });
}

/** The assignment of a number to an organization. */
interface Assignment {
  readonly number: string;
  readonly organizationId: string;
  /** The keyword for a shared number; without it the organization has the number alone. */
  readonly keyword?: string | undefined;
  /** The carrier of the number; without it the number keeps the one that it has. */
  readonly carrier?: string | undefined;
}

/** The organization or organizations of a number, and its carrier. */
export type Owners = Pick<NumberRecord, "carrier" | "keywords" | "organizationId">;

/**
 * Assigns a number to an organization, alone or with a keyword. Its earlier assignments stay.
 * @throws Error with a message for the operator when the number is assigned to others
 */
export async function assignNumber(assignment: Assignment): Promise<NumberRecord> {
  // This comes before any reply can arrive: from then on sending checks for a STOP.
  await noteReplies(assignment.organizationId);
  return change(assignment.number, (seen) => assigned(seen, assignment));
}

/**
 * Returns the owners of a number after an assignment.
 * @throws Error with a message for the operator when the number is assigned to others
 */
export function assigned(
  seen: NumberRecord | undefined,
  { number, organizationId, keyword, carrier = seen?.carrier }: Assignment,
): Owners {
  const { organizationId: owner, keywords = {} } = seen ?? {};
  const others = Object.values(keywords);
  if (owner !== undefined && (owner !== organizationId || keyword !== undefined)) {
    throw new RejectedError(`${number} is assigned to ${owner} alone: run numbers release first.`);
  }
  if (keyword === undefined) {
    if (others.length > 0) {
      throw new RejectedError(`${number} is shared by ${others.length} keywords: run numbers release first.`);
    }
    return { organizationId, keywords, carrier };
  }
  const word = keywordAsKept(keyword);
  const taken = keywords[word];
  if (taken !== undefined && taken !== organizationId) {
    throw new RejectedError(`${word} at ${number} is assigned to ${taken}: run numbers release first.`);
  }
  if (others.length >= maxKeywords) throw new RejectedError(`A number has at most ${maxKeywords} keywords.`);
  return { keywords: { ...keywords, [word]: organizationId }, carrier };
}

/**
 * Releases a number, or one of its keywords. Later messages to it belong to no organization.
 * @throws Error with a message for the operator when it is not assigned
 */
export async function releaseNumber(number: string, keyword?: string): Promise<NumberRecord> {
  return change(number, (seen) => released(seen, { number, keyword }));
}

/**
 * Returns the owners of a number after a release.
 * @throws Error with a message for the operator when it is not assigned
 */
export function released(
  seen: NumberRecord | undefined,
  { number, keyword }: Pick<Assignment, "keyword" | "number">,
): Owners {
  const { organizationId, keywords = {} } = seen ?? {};
  if (keyword === undefined) {
    if (organizationId === undefined && Object.keys(keywords).length === 0) {
      throw new RejectedError(`${number} belongs to no organization.`);
    }
    return { keywords: {} };
  }
  const word = keywordAsKept(keyword);
  if (keywords[word] === undefined)
    throw new RejectedError(`${word} at ${number} belongs to no organization.`);
  const left = Object.entries(keywords).filter(([each]) => each !== word);
  return { keywords: Object.fromEntries(left), carrier: seen?.carrier };
}

/** The fewest digits by which the end of a number is recognized without its country code. */
const minNationalDigits = 7;

/**
 * Whether digits are the number of others, in international or national form, and an organization has neither the number nor
 * a keyword of it. It reads all numbers, because hardly any sender ID has only digits.
 */
export async function isNumberOfOthers(organizationId: string, digits: string): Promise<boolean> {
  const national = digits.replace(/^0+/, "");
  return (await listNumbers()).some(({ number, organizationId: owner, keywords }) => {
    const isSame = number === digits || (national.length >= minNationalDigits && number.endsWith(national));
    const holders = owner === undefined ? Object.values(keywords) : [owner];
    return isSame && holders.length > 0 && !holders.includes(organizationId);
  });
}

/** Releases all numbers and keywords of an organization. */
export async function releaseNumbersOf(organizationId: string): Promise<void> {
  for (const { number, organizationId: owner, keywords } of await listNumbers()) {
    if (owner === organizationId) await releaseNumber(number);
    for (const [keyword, each] of Object.entries(keywords)) {
      if (each === organizationId) await releaseNumber(number, keyword);
    }
  }
}

/** Reads a number, decides and writes. It repeats this when another change came in between. */
async function change(
  number: string,
  decide: (seen: NumberRecord | undefined) => Owners,
): Promise<NumberRecord> {
  return untilUndisturbed(async () => {
    const seen = await findNumber(number);
    const record: NumberRecord = {
      entity: "number",
      number,
      ...decide(seen),
      updatedAt: now().toISOString(),
      version: (seen?.version ?? 0) + 1,
    };
    const written = await putItem(
      putOf(
        keys.number(number),
        record,
        seen === undefined ? { absent: ["pk"] } : { is: { version: seen.version } },
      ),
    );
    return written.applied ? record : undefined;
  });
}

/** @throws Error for a keyword that is not a single word, or that is a command */
function keywordAsKept(keyword: string): string {
  const word = plain(keyword);
  if (word === "" || word.includes(" ")) throw new Error("A keyword is one word of letters and digits.");
  const meaning = keywordOf(word);
  if (meaning !== undefined) throw new Error(`${word} means ${meaning} for every number.`);
  return word;
}

/** An organization that receives an inbound message, and the command in it. */
export interface Addressee {
  readonly organizationId: string;
  readonly keyword: Keyword | undefined;
}

/**
 * Returns the organizations that receive a message to a number. Among several that share it, the message's first word
 * is the keyword of one, or its last word after a STOP. A message that is only STOP, START or HELP goes to all of them,
 * because all of them have sent messages from the number.
 */
export function addresseesOf(number: NumberRecord | undefined, text: string): readonly Addressee[] {
  if (number === undefined) return [];
  const keyword = keywordOf(text);
  const { organizationId, keywords } = number;
  if (organizationId !== undefined) return [{ organizationId, keyword }];
  if (keyword !== undefined) {
    return [...new Set(Object.values(keywords))].map((each) => ({ organizationId: each, keyword }));
  }
  const said = plain(text).split(" ");
  const first = keywords[said[0] ?? ""];
  if (first !== undefined) return [{ organizationId: first, keyword: keywordOf(said.slice(1).join(" ")) }];
  const last = keywords[said.at(-1) ?? ""];
  const before = keywordOf(said.slice(0, -1).join(" "));
  return last === undefined || before === undefined ? [] : [{ organizationId: last, keyword: before }];
}
