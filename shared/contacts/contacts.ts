import * as z from "zod";

import { usedQuota, releaseQuota, takeQuota } from "../accounts/organization-record.ts";
import type { Contact, CreateContactRequest, UpdateContactRequest } from "../contract/contacts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { readPage } from "../platform/table/page.ts";
import { patch } from "../platform/table/patch.ts";
import { queryItems, readItem, transact, type Put, type Write } from "../platform/table/table.ts";

export const ContactRecord = z.object({
  entity: z.literal("contact"),
  id: z.string(),
  organizationId: z.string(),
  phoneNumber: z.string(),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  tags: z.array(z.string()),
  attributes: z.record(z.string(), z.string()),
  optedOut: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type ContactRecord = z.infer<typeof ContactRecord>;

export const maxContacts = 100_000;

/** How often a change is tried when another one of the same contact comes in between. */
const changeAttempts = 5;

/** The sort keys of contacts, as apart from those of their numbers. */
const contactIds = { from: "con_", to: "con_~" };

/**
 * Adds a contact.
 * @throws ApiError CONFLICT when a contact has the number, or the organisation as many as it may have
 */
export async function createContact(organizationId: string, request: CreateContactRequest): Promise<Contact> {
  const record = newContact(organizationId, request);
  const created = await transact([
    takeQuota(organizationId, "contactCount", maxContacts),
    ...contactPuts(record),
  ]);
  if (created.committed) return presentContact(record);
  const [places, , number] = created.refusals;
  if (number !== undefined) throw numberTaken();
  if (places !== undefined) throw new ApiError("CONFLICT", { message: tooManyContacts });
  throw new ApiError("UNAVAILABLE");
}

export const tooManyContacts = `An organisation has at most ${maxContacts} contacts.`;

export function newContact(organizationId: string, request: CreateContactRequest): ContactRecord {
  const createdAt = now().toISOString();
  return {
    entity: "contact",
    id: newId("con"),
    organizationId,
    ...request,
    createdAt,
    updatedAt: createdAt,
  };
}

/** The writes of a new contact: itself, then its number, which is refused where another contact has it. */
export function contactPuts(record: ContactRecord): readonly [contact: Put, number: Put] {
  return [
    {
      put: { ...keys.contact(record.organizationId, record.id), ...record },
      condition: "attribute_not_exists(pk)",
    },
    numberPut(record, record.phoneNumber),
  ];
}

function numberPut({ organizationId, id }: ContactRecord, phoneNumber: string): Put {
  return {
    put: {
      ...keys.contactOfNumber(organizationId, phoneNumber),
      entity: "contactNumber",
      contactId: id,
    },
    condition: "attribute_not_exists(pk)",
  };
}

/** A page of the organisation's contacts, newest first. */
export async function listContacts(organizationId: string, query: PageQuery): Promise<Page<Contact>> {
  const { pk } = keys.contact(organizationId, "");
  const page = await readPage(
    ContactRecord.extend({ sk: z.string() }),
    { pk, ...contactIds, newestFirst: true, consistent: true },
    query,
    await usedQuota(organizationId, "contactCount"),
  );
  return { rows: page.rows.map(presentContact), meta: page.meta };
}

/** At most `limit` contacts in the order of their ids, those behind the contact `after`, as they are now. */
export async function readContacts(
  organizationId: string,
  range: { readonly after?: string | undefined; readonly limit: number },
): Promise<ContactRecord[]> {
  const { pk } = keys.contact(organizationId, "");
  return queryItems(ContactRecord, { pk, ...contactIds, ...range, consistent: true });
}

/** One contact as it is now, or undefined where there is none. */
export async function findContact(
  organizationId: string,
  contactId: string,
): Promise<ContactRecord | undefined> {
  return readItem(ContactRecord, keys.contact(organizationId, contactId), { consistent: true });
}

/**
 * One contact as it is now.
 * @throws ApiError NOT_FOUND, also for a contact of another organisation
 */
export async function getContact(organizationId: string, contactId: string): Promise<Contact> {
  const record = await findContact(organizationId, contactId);
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return presentContact(record);
}

/**
 * Changes the given fields and no others. Without any, nothing changes.
 * @throws ApiError NOT_FOUND, also for a contact of another organisation; CONFLICT when another contact has
 *   the number; UNAVAILABLE when too many other changes came in between
 */
export async function updateContact(
  organizationId: string,
  contactId: string,
  request: UpdateContactRequest,
): Promise<Contact> {
  for (let attempt = 1; attempt <= changeAttempts; attempt += 1) {
    const seen = await findContact(organizationId, contactId);
    if (seen === undefined) throw new ApiError("NOT_FOUND");
    if (Object.values(request).every((value) => value === undefined)) return presentContact(seen);
    const updated = await transact(updateWrites(seen, request));
    if (updated.committed) return getContact(organizationId, contactId);
    const [contact, number] = updated.refusals;
    // When the contact was refused too it has changed its number in the meantime, perhaps to this very one.
    if (contact === undefined && number !== undefined) throw numberTaken();
  }
  throw new ApiError("UNAVAILABLE");
}

function updateWrites(seen: ContactRecord, request: UpdateContactRequest): Write[] {
  const { organizationId, id, phoneNumber } = seen;
  const { update, names, values } = patch({
    ...request,
    tags: request.tags === null ? [] : request.tags,
    attributes: request.attributes === null ? {} : request.attributes,
    updatedAt: now().toISOString(),
  });
  const writes: Write[] = [
    {
      key: keys.contact(organizationId, id),
      update,
      condition: "phoneNumber = :seenNumber",
      names,
      values: { ...values, ":seenNumber": phoneNumber },
    },
  ];
  if (request.phoneNumber === undefined || request.phoneNumber === phoneNumber) return writes;
  return [
    ...writes,
    numberPut(seen, request.phoneNumber),
    { delete: keys.contactOfNumber(organizationId, phoneNumber) },
  ];
}

/**
 * Removes a contact, whose number another one may have from then on.
 * @throws ApiError NOT_FOUND, also for a contact of another organisation; UNAVAILABLE when too many other
 *   changes came in between
 */
export async function deleteContact(
  organizationId: string,
  contactId: string,
): Promise<{ id: string; deleted: true }> {
  for (let attempt = 1; attempt <= changeAttempts; attempt += 1) {
    const seen = await findContact(organizationId, contactId);
    if (seen === undefined) throw new ApiError("NOT_FOUND");
    const deleted = await transact([
      {
        delete: keys.contact(organizationId, contactId),
        condition: "phoneNumber = :seenNumber",
        values: { ":seenNumber": seen.phoneNumber },
      },
      { delete: keys.contactOfNumber(organizationId, seen.phoneNumber) },
      releaseQuota(organizationId, "contactCount"),
    ]);
    if (deleted.committed) return { id: contactId, deleted: true };
  }
  throw new ApiError("UNAVAILABLE");
}

function numberTaken(): ApiError {
  return new ApiError("CONFLICT", { message: "A contact with this phone number exists." });
}

function presentContact(record: ContactRecord): Contact {
  return {
    id: record.id,
    phoneNumber: record.phoneNumber,
    firstName: record.firstName,
    lastName: record.lastName,
    tags: record.tags,
    attributes: record.attributes,
    optedOut: record.optedOut,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}
