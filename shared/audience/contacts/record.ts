import * as z from "zod/mini";

import type { Contact, CreateContactRequest } from "../../api/contract/contacts.ts";
import { findOptOutRecord, inForce, noteOptOut } from "../../messages/opt-outs/record.ts";
import { now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem, queryRows, type Row } from "../../platform/table/read.ts";
import { versionField } from "../../platform/table/version.ts";
import { insertOf, type Put, type Write } from "../../platform/table/write.ts";

export const ContactRecord = z.object({
  entity: z.literal("contact"),
  id: z.string(),
  organizationId: z.string(),
  phoneNumber: z.string(),
  firstName: z.optional(z.string()),
  lastName: z.optional(z.string()),
  tags: z.array(z.string()),
  attributes: z.record(z.string(), z.string()),
  /** A copy of the opt-out of its number, which is written with it (`opt-outs/record.ts`). */
  optedOut: z.boolean(),
  version: versionField,
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type ContactRecord = z.infer<typeof ContactRecord>;

/** The item that finds the contact of a number. It keeps numbers unique. */
export const NumberRecord = z.object({ entity: z.literal("contactNumber"), contactId: z.string() });

export const maxContacts = 100_000;

/** The range of the sort keys of contacts, without those of their numbers. */
export const contactIds = { from: "con_", to: "con_~" };

/**
 * Returns the record of a new contact. If its number has opted out, it stays so, because a person who sent STOP may be
 * imported again.
 */
export async function newContact(
  organizationId: string,
  request: CreateContactRequest,
): Promise<ContactRecord> {
  const createdAt = now().toISOString();
  const { phoneNumber } = request;
  const known = await findOptOutRecord(organizationId, phoneNumber);
  return {
    entity: "contact",
    id: newId("con"),
    organizationId,
    ...request,
    optedOut: request.optedOut || (known !== undefined && inForce(known) !== undefined),
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
}

/**
 * Returns the writes of a new contact: its record, its number, and its opt-out if the request has one. The number's
 * write is rejected where another contact has it. An earlier opt-out of the number does not count as the organization's
 * own note.
 */
export function contactPuts(
  record: ContactRecord,
  { optedOut }: Pick<CreateContactRequest, "optedOut">,
): readonly [contact: Put, number: Put, ...optOut: readonly Write[]] {
  const { organizationId, phoneNumber, createdAt } = record;
  return [
    insertOf(keys.contact(organizationId, record.id), record),
    numberPut(record, phoneNumber),
    ...(optedOut ? [noteOptOut(organizationId, phoneNumber, { source: "contact", createdAt })] : []),
  ];
}

/** Returns the write that assigns a number to a contact. It is rejected where another contact has the number. */
export function numberPut({ organizationId, id }: ContactRecord, phoneNumber: string): Put {
  const key = keys.contactOfNumber(organizationId, phoneNumber);
  return insertOf(key, { entity: "contactNumber", contactId: id });
}

/** Reads a contact as it is now. */
export async function findContact(
  organizationId: string,
  contactId: string,
): Promise<ContactRecord | undefined> {
  return findItem(ContactRecord, keys.contact(organizationId, contactId), { consistent: true });
}

/** Reads the contact that has a number, as it is now. */
export async function findContactOfNumber(
  organizationId: string,
  phoneNumber: string,
): Promise<ContactRecord | undefined> {
  const key = keys.contactOfNumber(organizationId, phoneNumber);
  const owner = await findItem(NumberRecord, key, { consistent: true });
  return owner && findContact(organizationId, owner.contactId);
}

/** Reads at most `limit` contacts in the order of their ids, starting after the contact `after`, as they are now. */
export async function readContacts(
  organizationId: string,
  range: { readonly after?: string | undefined; readonly limit: number },
): Promise<Row<ContactRecord>[]> {
  const { pk } = keys.contact(organizationId, "");
  return queryRows(ContactRecord, { pk, ...contactIds, ...range, consistent: true });
}

/** Returns the first and the last name of a contact; undefined without both. */
export function fullName({
  firstName,
  lastName,
}: Pick<ContactRecord, "firstName" | "lastName">): string | undefined {
  return [firstName, lastName].filter(Boolean).join(" ") || undefined;
}

export function toApiContact(record: ContactRecord): Contact {
  return {
    id: record.id,
    phoneNumber: record.phoneNumber,
    firstName: record.firstName,
    lastName: record.lastName,
    tags: record.tags,
    attributes: record.attributes,
    optedOut: record.optedOut,
    version: record.version,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}
