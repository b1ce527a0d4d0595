import * as z from "zod";

import { OptOutSource, type OptOut } from "../contract/opt-outs.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, type Update, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/*
 * Who gets no marketing and no campaigns of an organisation. An opt-out belongs to a number, whether there is a contact
 * with it or not, and outlives the contact. That a contact has opted out is written together with the opt-out of its
 * number, so that lists and campaigns see it without another read; where messages are refused this record decides.
 */

export const OptOutRecord = z.object({
  entity: z.literal("optOut"),
  phoneNumber: z.string(),
  source: OptOutSource,
  createdAt: z.string(),
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
  /** That it has opted out. */
  readonly optOut: OptOutRecord | undefined;
  /** Whether that stands in the table; contacts of release 0.2 have said so of themselves alone. */
  readonly isRecorded: boolean;
  readonly contact: OwnerOfNumber | undefined;
}

/** How a number stands with an organisation, as it is now. */
export async function readStanding(organizationId: string, phoneNumber: string): Promise<Standing> {
  const [recorded, contact] = await Promise.all([
    findRecordedOptOut(organizationId, phoneNumber),
    findOwner(organizationId, phoneNumber),
  ]);
  if (recorded !== undefined) return { optOut: recorded, isRecorded: true, contact };
  const optOut = contact?.optedOut === true ? ofContact(contact) : undefined;
  return { optOut, isRecorded: false, contact };
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

function ofContact({ phoneNumber, updatedAt }: OwnerOfNumber): OptOutRecord {
  return { entity: "optOut", phoneNumber, source: "contact", createdAt: updatedAt };
}

/**
 * What is recorded of a number that no contact has, as it is now: for whoever is about to make a contact with it. All
 * others ask `readStanding`.
 */
export async function findRecordedOptOut(
  organizationId: string,
  phoneNumber: string,
): Promise<OptOutRecord | undefined> {
  return findItem(OptOutRecord, keys.optOut(organizationId, phoneNumber), { consistent: true });
}

/** Whether a number has opted out, as it is now. */
export async function hasOptedOut(organizationId: string, phoneNumber: string): Promise<boolean> {
  return (await readStanding(organizationId, phoneNumber)).optOut !== undefined;
}

/** The write that records an opt-out. One that is there stays as it is. */
export function recordOptOut(
  organizationId: string,
  optOut: Pick<OptOutRecord, "phoneNumber" | "source"> & Partial<OptOutRecord>,
): Update {
  const { phoneNumber, source, createdAt = now().toISOString() } = optOut;
  return updateOf(keys.optOut(organizationId, phoneNumber), {
    setIfAbsent: { entity: "optOut", phoneNumber, source, createdAt },
  });
}

/** The write that forgets an opt-out. */
export function forgetOptOut(organizationId: string, phoneNumber: string): Write {
  return { delete: keys.optOut(organizationId, phoneNumber) };
}

/** An opt-out as its organisation sees it. */
export function presentOptOut({ phoneNumber, source, createdAt }: OptOutRecord): OptOut {
  return { phoneNumber, source, createdAt };
}
