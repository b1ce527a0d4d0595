import * as z from "zod/mini";

import { noteReplies } from "../accounts/organization-record.ts";
import type { Keyword } from "../contract/inbound.ts";
import { now } from "../platform/clock.ts";
import { Refusal } from "../platform/refusal.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, itemsOf, putItem, queryRows, untilUndisturbed } from "../platform/table/table.ts";
import { keywordOf, plain } from "./keywords.ts";

/*
 * Whose the messages are that come to a number: one organization's, or of several who are told apart by a keyword that
 * the messages begin with.
 */

export const NumberRecord = z.object({
  entity: z.literal("number"),
  /** In digits: international without a plus sign, or a short code. */
  number: z.string(),
  /** Whose it is alone. */
  organizationId: z.optional(z.string()),
  /** Who shares it, by their keywords in capital letters. */
  keywords: z._default(z.record(z.string(), z.string()), {}),
  updatedAt: z.string(),
  /** Grows with each change. */
  version: z.int(),
});
export type NumberRecord = z.infer<typeof NumberRecord>;

/** More than an operator has. */
const maxNumbers = 10_000;

/** Keywords of one number; they stand in one item. */
const maxKeywords = 1_000;

/** All numbers, in their order. */
export async function listNumbers(): Promise<NumberRecord[]> {
  const { pk } = keys.number("");
  return itemsOf(await queryRows(NumberRecord, { pk, limit: maxNumbers, consistent: true }));
}

/** A number as it is now; undefined when it is no one's. */
export async function findNumber(number: string): Promise<NumberRecord | undefined> {
  return findItem(NumberRecord, keys.number(number), { consistent: true });
}

/** Whose a number is to be, or is no more. */
interface Assignment {
  readonly number: string;
  readonly organizationId: string;
  /** What its messages begin with where others have the number too; without it the number is its alone. */
  readonly keyword?: string | undefined;
}

/** Whose a number is, alone or by their keywords. */
export type Owners = Pick<NumberRecord, "keywords" | "organizationId">;

/**
 * Gives a number to an organization, alone or with a keyword. What it has already it keeps.
 * @throws Error in words for the operator when others have it
 */
export async function assignNumber(assignment: Assignment): Promise<NumberRecord> {
  // Before anyone can answer: from then on a STOP is looked for.
  await noteReplies(assignment.organizationId);
  return change(assignment.number, (seen) => assigned(seen, assignment));
}

/** Whose a number will be when it is given to an organization. @throws Error in words for the operator when others have it */
export function assigned(
  seen: NumberRecord | undefined,
  { number, organizationId, keyword }: Assignment,
): Owners {
  const { organizationId: owner, keywords = {} } = seen ?? {};
  const others = Object.values(keywords);
  if (owner !== undefined && (owner !== organizationId || keyword !== undefined)) {
    throw new Refusal(`${number} is ${owner}'s alone: numbers release comes first.`);
  }
  if (keyword === undefined) {
    if (others.length > 0) {
      throw new Refusal(`${number} is shared by ${others.length} keywords: numbers release comes first.`);
    }
    return { organizationId, keywords };
  }
  const word = keywordAsKept(keyword);
  const taken = keywords[word];
  if (taken !== undefined && taken !== organizationId) {
    throw new Refusal(`${word} at ${number} is ${taken}'s: numbers release comes first.`);
  }
  if (others.length >= maxKeywords) throw new Refusal(`A number has at most ${maxKeywords} keywords.`);
  return { keywords: { ...keywords, [word]: organizationId } };
}

/**
 * Takes a number, or its keyword, from whoever has it. What comes to it from then on is no one's.
 * @throws Error in words for the operator when no one has it
 */
export async function releaseNumber(number: string, keyword?: string): Promise<NumberRecord> {
  return change(number, (seen) => released(seen, { number, keyword }));
}

/** Whose a number will be when it is taken from whoever has it. @throws Error in words for the operator when no one has it */
export function released(
  seen: NumberRecord | undefined,
  { number, keyword }: Pick<Assignment, "keyword" | "number">,
): Owners {
  const { organizationId, keywords = {} } = seen ?? {};
  if (keyword === undefined) {
    if (organizationId === undefined && Object.keys(keywords).length === 0) {
      throw new Refusal(`${number} belongs to no organization.`);
    }
    return { keywords: {} };
  }
  const word = keywordAsKept(keyword);
  if (keywords[word] === undefined) throw new Refusal(`${word} at ${number} belongs to no organization.`);
  return { keywords: Object.fromEntries(Object.entries(keywords).filter(([each]) => each !== word)) };
}

/** Takes all that an organization has of all numbers. */
export async function releaseNumbersOf(organizationId: string): Promise<void> {
  for (const { number, organizationId: owner, keywords } of await listNumbers()) {
    if (owner === organizationId) await releaseNumber(number);
    for (const [keyword, each] of Object.entries(keywords)) {
      if (each === organizationId) await releaseNumber(number, keyword);
    }
  }
}

/** Reads a number, decides and writes, and does so again when someone else has changed it in between. */
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
    const put = { ...keys.number(number), ...record };
    const written = await putItem(
      seen === undefined
        ? { put, condition: "attribute_not_exists(pk)" }
        : { put, condition: "version = :seen", values: { ":seen": seen.version } },
    );
    return written.applied ? record : undefined;
  });
}

/** @throws Error for one that would be taken for something else */
function keywordAsKept(keyword: string): string {
  const word = plain(keyword);
  if (word === "" || word.includes(" ")) throw new Error("A keyword is one word of letters and digits.");
  const meaning = keywordOf(word);
  if (meaning !== undefined) throw new Error(`${word} means ${meaning} wherever it is sent to.`);
  return word;
}

/** For whom a message is, and what it says to them. */
export interface Addressee {
  readonly organizationId: string;
  readonly keyword: Keyword | undefined;
}

/**
 * For whom a message to a number is. Where several share the number it is the one whose keyword the message begins with,
 * or ends with behind a STOP; what says nothing but STOP, START or HELP is for all of them, who have all written from there.
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
