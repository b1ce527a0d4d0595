import * as z from "zod/mini";

import type {
  Contact,
  ContactsQuery,
  CreateContactRequest,
  UpdateContactRequest,
} from "../../api/contract/contacts.ts";
import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { checkPhoneNumber } from "../../messages/destinations/impossible-numbers.ts";
import { withoutNote } from "../../messages/opt-outs/opt-outs.ts";
import { findOptOutRecord, replaceWishes, wishesOf } from "../../messages/opt-outs/record.ts";
import { optOutOf } from "../../messages/opt-outs/standing.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { pageOf, readPage, readWantedPage } from "../../platform/table/page.ts";
import { findTogether, itemsOf } from "../../platform/table/read.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { atVersion, requireVersion } from "../../platform/table/version.ts";
import { changesOfPatch, updateOf, type Write, deleteOf } from "../../platform/table/write.ts";
import { TextSearch } from "../../platform/text-search.ts";
import { releaseQuota, takeQuota, usedQuota } from "../../tenancy/organizations/quota.ts";
import {
  contactIds,
  contactPuts,
  ContactRecord,
  findContact,
  findContactOfNumber,
  fullName,
  maxContacts,
  newContact,
  numberPut,
  toApiContact,
} from "./record.ts";

/**
 * Adds a contact.
 * @throws ApiError VALIDATION_ERROR for an impossible number; CONFLICT when a contact has the number, or the organization
 *   has the most contacts allowed; UNAVAILABLE
 */
export async function createContact(organizationId: string, request: CreateContactRequest): Promise<Contact> {
  checkPhoneNumber(request.phoneNumber);
  const record = await newContact(organizationId, request);
  const created = await transact({
    quota: takeQuota(organizationId, "contactCount", maxContacts),
    contact: contactPuts(record, request),
  });
  if (created.outcome === "committed") return toApiContact(record);
  if (created.rejections.contact !== undefined) throw numberTaken();
  throw new ApiError("CONFLICT", { message: tooManyContacts });
}

export const tooManyContacts = `An organization has at most ${maxContacts} contacts.`;

/** The contacts that one request searches: about 6 MB, and 1,600 read units. */
const maxSearched = 25_000;

/** The fields that a search reads. It reads the others of the contacts that it finds only, which takes half the time. */
const SearchedContact = z.pick(ContactRecord, {
  id: true,
  phoneNumber: true,
  firstName: true,
  lastName: true,
  tags: true,
});

/** Returns a page of the organization's contacts, newest first, filtered by the query. */
export async function listContacts(organizationId: string, query: ContactsQuery): Promise<Page<Contact>> {
  const { search, tag } = query;
  const { pk } = keys.contact(organizationId, "");
  const list = { pk, ...contactIds, newestFirst: true, consistent: true };
  const sought = search === undefined ? undefined : new TextSearch(search);
  const isWanted = (contact: z.infer<typeof SearchedContact>): boolean =>
    sought?.matches(contact.phoneNumber, fullName(contact) ?? "") !== false &&
    (tag === undefined || contact.tags.includes(tag));
  const exact =
    sought?.digits === undefined ? undefined : await findContactOfNumber(organizationId, sought.digits);
  if (exact !== undefined) return pageOf([exact].filter(isWanted).map(toApiContact), query);
  if (search === undefined && tag === undefined) {
    const { rows, meta } = await readPage(
      ContactRecord,
      list,
      query,
      await usedQuota(organizationId, "contactCount"),
    );
    return { rows: rows.map(toApiContact), meta };
  }
  const fields = Object.keys(SearchedContact.shape);
  const found = await readWantedPage(SearchedContact, { ...list, fields }, query, isWanted, {
    most: maxSearched,
  });
  const ids = found.rows.map(({ id }) => keys.contact(organizationId, id));
  const records = itemsOf(await findTogether(ContactRecord, ids));
  const rows = found.rows.flatMap(({ id }) => records.find((record) => record.id === id) ?? []);
  return { rows: rows.map(toApiContact), meta: found.meta };
}

/** Reads a contact as it is now. @throws ApiError NOT_FOUND, also for a contact of another organization */
export async function getContact(organizationId: string, contactId: string): Promise<Contact> {
  return toApiContact(await readContact(organizationId, contactId));
}

async function readContact(organizationId: string, contactId: string): Promise<ContactRecord> {
  return orNotFound(await findContact(organizationId, contactId));
}

/**
 * Changes the given fields and no others. Without any, nothing changes.
 * @throws ApiError VALIDATION_ERROR for an impossible number. NOT_FOUND, also for a contact of another organization. CONFLICT
 *   when another contact has the number, and for another version than the given one.
 *   OPT_OUT_BY_REPLY when it would lift a person's STOP. UNAVAILABLE when too many other changes came in between.
 */
export async function updateContact(
  organizationId: string,
  contactId: string,
  request: UpdateContactRequest,
): Promise<Contact> {
  const { version, ...fields } = request;
  if (fields.phoneNumber !== undefined) checkPhoneNumber(fields.phoneNumber);
  return untilUndisturbed(async () => {
    const seen = await readContact(organizationId, contactId);
    requireVersion(version, seen.version);
    if (Object.values(fields).every((value) => value === undefined)) return toApiContact(seen);
    return (await changeContact(seen, fields, { version }))
      ? getContact(organizationId, contactId)
      : undefined;
  });
}

type Unchanged = Partial<Pick<ContactRecord, "updatedAt"> & Pick<UpdateContactRequest, "version">>;

/**
 * Changes a contact, unless its number has changed since it was read.
 * @param unchanged other fields that must not have changed
 * @returns whether the change was made
 * @throws ApiError CONFLICT when another contact has the number; OPT_OUT_BY_REPLY
 */
export async function changeContact(
  seen: ContactRecord,
  request: UpdateContactRequest,
  unchanged: Unchanged = {},
): Promise<boolean> {
  const updated = await transact(await updateWrites(seen, request, unchanged));
  if (updated.outcome === "committed") return true;
  const { contact, number } = updated.rejections;
  // If the contact's write was rejected too, its number changed at the same time, perhaps to this one.
  if (contact === undefined && number !== undefined) throw numberTaken();
  return false;
}

async function updateWrites(
  seen: ContactRecord,
  request: UpdateContactRequest,
  { version, ...unchanged }: Unchanged,
): Promise<Record<"contact" | "number" | "others", Write | readonly Write[]>> {
  const { organizationId, id, phoneNumber } = seen;
  const optOut = await optOutWrites(seen, request);
  const patch = changesOfPatch<"contact">({
    ...request,
    optedOut: optOut.optedOut,
    tags: request.tags === null ? [] : request.tags,
    attributes: request.attributes === null ? {} : request.attributes,
    updatedAt: now().toISOString(),
  });
  const changes = { ...patch, add: { version: 1 } };
  const key = keys.contact(organizationId, id);
  if (request.phoneNumber === undefined || request.phoneNumber === phoneNumber) {
    return {
      contact: updateOf(key, changes, { is: { phoneNumber, ...unchanged }, ...atVersion(version) }),
      number: [],
      others: optOut.writes,
    };
  }
  return {
    // The opt-out follows the contact to its new number.
    contact: updateOf(key, changes, { is: { phoneNumber, optedOut: seen.optedOut }, ...atVersion(version) }),
    number: numberPut(seen, request.phoneNumber),
    others: [deleteOf(keys.contactOfNumber(organizationId, phoneNumber)), ...optOut.writes],
  };
}

/**
 * Returns the effect of a contact's change on the opt-out of its number. A contact that has opted out stays so with
 * another number. A contact whose new number has opted out becomes opted out.
 */
async function optOutWrites(
  { organizationId, ...seen }: ContactRecord,
  { optedOut, phoneNumber = seen.phoneNumber }: UpdateContactRequest,
): Promise<{ readonly optedOut: boolean | undefined; readonly writes: Write[] }> {
  const isOtherNumber = phoneNumber !== seen.phoneNumber;
  if (optedOut === undefined && !isOtherNumber) return { optedOut: undefined, writes: [] };
  const record = await findOptOutRecord(organizationId, phoneNumber);
  const known = wishesOf(record);
  const isNoted = optedOut ?? (isOtherNumber && seen.optedOut);
  const note = known.noted ?? { source: "contact", createdAt: now().toISOString() };
  const next = optedOut === false ? withoutNote(known) : isNoted ? { ...known, noted: note } : known;
  const isOptedOut = optOutOf(phoneNumber, next) !== undefined;
  return {
    optedOut: isOptedOut || optedOut === false ? isOptedOut : undefined,
    writes: replaceWishes(organizationId, phoneNumber, { seen: record, next }),
  };
}

/**
 * Removes a contact. Another contact may then have its number. The opt-out of the number stays.
 * @throws ApiError NOT_FOUND, also for a contact of another organization; UNAVAILABLE when too many other changes came
 *   in between
 */
export async function deleteContact(
  organizationId: string,
  contactId: string,
): Promise<{ id: string; deleted: true }> {
  return untilUndisturbed(async () => {
    const seen = await readContact(organizationId, contactId);
    const deleted = await transact({ contact: removalOf(seen) });
    return deleted.outcome === "committed" ? { id: contactId, deleted: true } : undefined;
  });
}

/** Returns the writes that remove a contact. They are rejected when its number has changed. */
function removalOf({ organizationId, id, phoneNumber }: ContactRecord): Write[] {
  return [
    deleteOf(keys.contact(organizationId, id), { is: { phoneNumber } }),
    deleteOf(keys.contactOfNumber(organizationId, phoneNumber)),
    releaseQuota(organizationId, "contactCount"),
  ];
}

/**
 * Erases the contact that has a number. The opt-out of the number stays, because a person who also requested erasure
 * must still receive no messages. Its number is not hashed, because all phone numbers can be hashed within minutes.
 * @throws ApiError UNAVAILABLE when too many other changes came in between
 */
export async function eraseContact(organizationId: string, phoneNumber: string): Promise<"gone" | "none"> {
  return untilUndisturbed(async () => {
    const seen = await findContactOfNumber(organizationId, phoneNumber);
    if (seen === undefined) return "none";
    const removed = await transact({ contact: removalOf(seen) });
    return removed.outcome === "committed" ? "gone" : undefined;
  });
}

function numberTaken(): ApiError {
  return new ApiError("CONFLICT", { message: "A contact with this phone number exists." });
}
