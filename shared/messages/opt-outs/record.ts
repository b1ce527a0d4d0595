import * as z from "zod/mini";

import type { OptOut } from "../../api/contract/opt-outs.ts";
import type { Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { changesOfPatch, type Update, updateOf, type Write, deleteOf } from "../../platform/table/write.ts";
import { optOutOf, type OwnNote, type Wishes } from "./standing.ts";

/*
 * Opt-outs from the messages of an organization. An opt-out belongs to a number, with or without a contact, and
 * outlives the contact. A START does not delete the record of a STOP: the record has the person's last word and its
 * time. An older word that arrives later therefore changes nothing.
 *
 * A contact's `optedOut` is written together with the record of its number, so that lists and campaigns need no further
 * read. Where messages are rejected, the record decides.
 */

export const OptOutRecord = z.object({
  entity: z.literal("optOut"),
  phoneNumber: z.string(),
  /** The organization's own note, and its time. */
  source: z.optional(z.enum(["api", "contact"])),
  createdAt: z.optional(z.string()),
  /** The person's last word, and its time. */
  word: z.optional(z.enum(["start", "stop"])),
  saidAt: z.optional(z.string()),
});
export type OptOutRecord = z.infer<typeof OptOutRecord>;

/** The contact of a number, and its fields that concern opt-outs. */
const ContactOfNumber = z.object({ contactId: z.string() });
const OwnWord = z.object({ optedOut: z.boolean(), phoneNumber: z.string() });

/** The contact that has a number. */
interface OwnerOfNumber extends z.infer<typeof OwnWord> {
  readonly id: string;
}

/** The wishes for a number, and the contact that has the number. */
export interface Standing {
  readonly wishes: Wishes;
  /** The record as it was read. */
  readonly record: OptOutRecord | undefined;
  readonly contact: OwnerOfNumber | undefined;
}

/** Reads the wishes for a number, as they are now. */
export async function readStanding(organizationId: string, phoneNumber: string): Promise<Standing> {
  // The order matters: if the record has not changed since it was read, the contact is at least as new.
  const record = await findOptOutRecord(organizationId, phoneNumber);
  const contact = await findOwner(organizationId, phoneNumber);
  return { wishes: wishesOf(record), record, contact };
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
  // Its number may have changed between the two reads.
  return found?.phoneNumber === phoneNumber ? { ...found, id } : undefined;
}

/** Returns the wishes in a record. Without a record there are no wishes. */
export function wishesOf(record: OptOutRecord | undefined): Wishes {
  const { source, createdAt = "", word, saidAt = "" } = record ?? {};
  return { said: word && { word, saidAt }, noted: source && { source, createdAt } };
}

/**
 * Reads the record of a number, without its contact. A caller that changes wishes uses `readStanding`.
 */
export async function findOptOutRecord(
  organizationId: string,
  phoneNumber: string,
): Promise<OptOutRecord | undefined> {
  return findItem(OptOutRecord, keys.optOut(organizationId, phoneNumber), { consistent: true });
}

/** Reads the opt-out of a number that is in force now. */
export async function findOptOut(organizationId: string, phoneNumber: string): Promise<OptOut | undefined> {
  const record = await findOptOutRecord(organizationId, phoneNumber);
  return record && inForce(record);
}

/** Returns the opt-out in a record, if one is in force. */
export function inForce(record: OptOutRecord): OptOut | undefined {
  return optOutOf(record.phoneNumber, wishesOf(record));
}

/**
 * Returns the writes that replace the wishes that were read; none where nothing changes. They are rejected when the
 * record has changed since.
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
  const changes = changesOfPatch<"optOut">({
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
  return deleteOf(keys.optOut(organizationId, phoneNumber), asSeen(seen));
}

/** Requires that a record is as it was read. */
function asSeen(seen: OptOutRecord | undefined): Requirements<"optOut"> {
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

/** Returns the write that notes an opt-out by the organization. An existing note stays as it is. */
export function noteOptOut(organizationId: string, phoneNumber: string, note: OwnNote): Update<"optOut"> {
  const { source, createdAt } = note;
  return updateOf(keys.optOut(organizationId, phoneNumber), {
    setIfAbsent: { entity: "optOut", phoneNumber, source, createdAt },
  });
}

/**
 * Deletes the record of a number that has no opt-out in force. Such a record has only the person's last word and its
 * time.
 */
export async function deleteLifted(organizationId: string, phoneNumber: string): Promise<void> {
  const seen = await findOptOutRecord(organizationId, phoneNumber);
  if (seen === undefined || inForce(seen) !== undefined) return;
  // The write is rejected if a new word has arrived; the record then stays.
  await transact({ optOut: deletion(organizationId, phoneNumber, seen) });
}
