import * as z from "zod/mini";

import { OptOutSource, type OptOut } from "../contract/opt-outs.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact, type Update, type Write } from "../platform/table/table.ts";
import { changesOfPatch, updateOf, type Requirements } from "../platform/table/update.ts";
import { hasSaidStop, optOutOf, type OwnNote, type Wishes } from "./standing.ts";

/*
 * Who does not want messages of an organization. An opt-out belongs to a number, whether there is a contact with it or not,
 * and outlives the contact. A START does not delete what a STOP wrote: the record says what the person said last and when,
 * so that an older word that arrives later changes nothing. That a contact has opted out is written together with the
 * record of its number, so that lists and campaigns see it without another read; where messages are rejected this record
 * decides.
 */

export const OptOutRecord = z.object({
  entity: z.literal("optOut"),
  phoneNumber: z.string(),
  /** The organization's own note. Rows that have no `word` yet have `reply` here for a STOP of the person. */
  source: z.optional(OptOutSource),
  createdAt: z.optional(z.string()),
  /** The person's last word, and when they said it. */
  word: z.optional(z.enum(["start", "stop"])),
  saidAt: z.optional(z.string()),
});
export type OptOutRecord = z.infer<typeof OptOutRecord>;

/** What an opt-out has to know of the contact that has its number. */
const ContactOfNumber = z.object({ contactId: z.string() });
const OwnWord = z.object({ optedOut: z.boolean(), phoneNumber: z.string(), updatedAt: z.string() });

/** The contact that has a number, as far as opt-outs are concerned with it. */
interface OwnerOfNumber extends z.infer<typeof OwnWord> {
  readonly id: string;
}

/** What is known of a number. */
export interface Standing {
  readonly wishes: Wishes;
  /** The opt-out that is in force. */
  readonly optOut: OptOut | undefined;
  /** The record as it was read; contacts of release 0.2 have opted out without one. */
  readonly record: OptOutRecord | undefined;
  readonly contact: OwnerOfNumber | undefined;
}

/** How a number stands with an organization, as it is now. */
export async function readStanding(organizationId: string, phoneNumber: string): Promise<Standing> {
  // In this order: where the record has not changed since it was read, the contact is no older than it.
  const record = await findOptOutRecord(organizationId, phoneNumber);
  const contact = await findOwner(organizationId, phoneNumber);
  const wishes = record === undefined ? wishesOfContact(contact) : wishesOf(record);
  return { wishes, optOut: optOutOf(phoneNumber, wishes), record, contact };
}

async function findOwner(organizationId: string, phoneNumber: string): Promise<OwnerOfNumber | undefined> {
  const consistent = { consistent: true };
  const owner = await findItem(
    ContactOfNumber,
    keys.contactOfNumber(organizationId, phoneNumber),
    consistent,
  );
  if (owner === undefined) return undefined;
  const { contactId: id } = owner;
  const found = await findItem(OwnWord, keys.contact(organizationId, id), consistent);
  // It may have got another number between the two reads.
  return found?.phoneNumber === phoneNumber ? { ...found, id } : undefined;
}

function wishesOfContact(contact: OwnerOfNumber | undefined): Wishes {
  return contact?.optedOut === true ? { noted: { source: "contact", createdAt: contact.updatedAt } } : {};
}

/** What a record says. Nothing recorded is no wishes. */
export function wishesOf(record: OptOutRecord | undefined): Wishes {
  const { source, createdAt = "", word, saidAt = "" } = record ?? {};
  const said = word === undefined ? undefined : { word, saidAt };
  if (source === "reply") return { said: said ?? { word: "stop", saidAt: createdAt } };
  return { said, noted: source && { source, createdAt } };
}

/**
 * What is recorded of a number that no contact has, as it is now: for a caller that is about to make a contact with it, and
 * for one that asks for the person's word alone. All others use `readStanding`.
 */
export async function findOptOutRecord(
  organizationId: string,
  phoneNumber: string,
): Promise<OptOutRecord | undefined> {
  return findItem(OptOutRecord, keys.optOut(organizationId, phoneNumber), { consistent: true });
}

/** Whether an opt-out of a number is in force, as it is now. */
export async function hasOptedOut(organizationId: string, phoneNumber: string): Promise<boolean> {
  const record = await findOptOutRecord(organizationId, phoneNumber);
  if (record !== undefined) return inForce(record) !== undefined;
  return (await findOwner(organizationId, phoneNumber))?.optedOut === true;
}

/** Whether a person's last word to an organization was STOP, as it is now. */
export async function hasSaidStopTo(organizationId: string, phoneNumber: string): Promise<boolean> {
  return hasSaidStop(wishesOf(await findOptOutRecord(organizationId, phoneNumber)));
}

/** The opt-out that a record says is in force, if one is. */
export function inForce(record: OptOutRecord): OptOut | undefined {
  return optOutOf(record.phoneNumber, wishesOf(record));
}

/**
 * The writes that put other wishes in the place of those that were read; none where they are the same. They are rejected
 * when the record has changed since.
 */
export function replaceWishes(
  organizationId: string,
  phoneNumber: string,
  { seen, next }: { readonly seen: OptOutRecord | undefined; readonly next: Wishes },
): Write[] {
  const { said, noted } = next;
  const known = wishesOf(seen);
  if (
    said?.saidAt === known.said?.saidAt &&
    said?.word === known.said?.word &&
    isSameNote(noted, known.noted)
  ) {
    return [];
  }
  const key = keys.optOut(organizationId, phoneNumber);
  if (said === undefined && noted === undefined) return [deletion(organizationId, phoneNumber, seen)];
  const changes = changesOfPatch({
    entity: "optOut",
    phoneNumber,
    source: noted?.source ?? null,
    createdAt: noted?.createdAt ?? null,
    word: said?.word ?? null,
    saidAt: said?.saidAt ?? null,
  });
  return [updateOf(key, changes, asSeen(seen))];
}

function isSameNote(one: OwnNote | undefined, other: OwnNote | undefined): boolean {
  return one?.source === other?.source && one?.createdAt === other?.createdAt;
}

function deletion(organizationId: string, phoneNumber: string, seen: OptOutRecord | undefined): Write {
  const key = keys.optOut(organizationId, phoneNumber);
  const { key: _key, update: _update, ...only } = updateOf(key, {}, asSeen(seen));
  return { delete: key, ...only };
}

/** That a record is as it was read. */
function asSeen(seen: OptOutRecord | undefined): Requirements {
  if (seen === undefined) return { absent: ["pk"] };
  const fields = (["source", "createdAt", "word", "saidAt"] as const).map(
    (field) => [field, seen[field]] as const,
  );
  return {
    present: ["pk"],
    is: Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    absent: fields.filter(([, value]) => value === undefined).map(([field]) => field),
  };
}

/** The write that notes an opt-out for the organization itself. A note that is there stays as it is. */
export function noteOptOut(organizationId: string, phoneNumber: string, note: OwnNote): Update {
  const { source, createdAt } = note;
  return updateOf(keys.optOut(organizationId, phoneNumber), {
    setIfAbsent: { entity: "optOut", phoneNumber, source, createdAt },
  });
}

/** The same for a number of which nothing is recorded; it is rejected where something is. */
export function firstNote(organizationId: string, phoneNumber: string, note: OwnNote): Update {
  const set = { entity: "optOut", phoneNumber, source: note.source, createdAt: note.createdAt };
  return updateOf(keys.optOut(organizationId, phoneNumber), { set }, { absent: ["pk"] });
}

/** Deletes what is recorded of a number that has not opted out, or no longer: when it said so last. */
export async function forgetLifted(organizationId: string, phoneNumber: string): Promise<void> {
  const seen = await findOptOutRecord(organizationId, phoneNumber);
  if (seen === undefined || inForce(seen) !== undefined) return;
  // Rejected when a word was heard in between, which then stays.
  await transact([deletion(organizationId, phoneNumber, seen)]);
}
