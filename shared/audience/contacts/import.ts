import {
  CreateContactRequest,
  UpdateContactRequest,
  type ImportContactsRequest,
  type ImportedContact,
  type ImportedContacts,
} from "../../api/contract/contacts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { validate } from "../../api/contract/validation.ts";
import { impossibility } from "../../messages/destinations/impossible-numbers.ts";
import { firstDetails } from "../../platform/http/kept-details.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { takeQuota, usedQuota } from "../../tenancy/organizations/quota.ts";
import { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { changeContact, tooManyContacts } from "./contacts.ts";
import { contactPuts, findContactOfNumber, maxContacts, newContact, type ContactRecord } from "./record.ts";

/**
 * The contacts of one transaction, which has at most 100 writes: up to three for each contact, and one for the quota.
 */
const chunkSize = 33;

/** The attempts for a chunk. Usually one more without the numbers that are taken is enough; more are races. */
const chunkAttempts = 5;

/** The bytes of the details of all rows, which the Idempotency-Key of the import keeps. */
const maxDetailsBytes = 300_000;

/** A valid row. */
interface Row {
  readonly index: number;
  readonly contact: CreateContactRequest;
}

/** A row with the record to write. */
interface NewRow extends Row {
  readonly record: ContactRecord;
}

/**
 * Adds many contacts. An invalid row, or one whose number an earlier row has, does not stop the others. A contact that has
 * the number of a row stays as it is, or is updated. One transaction writes a chunk of new contacts and its quota. After a
 * crash the same import adds the rest, because the written rows are duplicates.
 * @throws ApiError UNAVAILABLE when too many other changes came in between; rows may have been written
 */
export async function importContacts(
  organizationId: string,
  { contacts, onDuplicate, columns, dryRun }: ImportContactsRequest,
): Promise<ImportedContacts> {
  const update = onDuplicate === "update" ? { columns } : undefined;
  const results: ImportedContact[] = [];
  const rows: Row[] = [];
  const numbers = new Set<string>();
  for (const [index, contact] of contacts.entries()) {
    const parsed = validate(CreateContactRequest, contact);
    const problem = parsed.success ? impossibility(parsed.data.phoneNumber) : undefined;
    if (!parsed.success) {
      results.push({
        index,
        status: "invalid",
        details: firstDetails(parsed.details, maxDetailsBytes / contacts.length),
      });
    } else if (problem !== undefined) {
      results.push({ index, status: "invalid", details: [{ path: "phoneNumber", message: problem }] });
    } else if (numbers.has(parsed.data.phoneNumber)) {
      results.push({ index, status: "duplicate", phoneNumber: parsed.data.phoneNumber });
    } else {
      numbers.add(parsed.data.phoneNumber);
      rows.push({ index, contact: parsed.data });
    }
  }
  // Chunks are written one after the other, because all change the same quota item, where parallel transactions
  // collide.
  for (let start = 0; start < rows.length; start += chunkSize) {
    const chunk = rows.slice(start, start + chunkSize);
    results.push(...(await (dryRun ? tryChunk : importChunk)(organizationId, chunk, update)));
  }
  if (dryRun) await rejectSurplus(organizationId, results);
  const count = (status: ImportedContact["status"]): number =>
    results.filter((result) => result.status === status).length;
  const updated = count("updated");
  return {
    results: results
      .filter(({ status }) => !dryRun || status === "duplicate" || status === "invalid")
      .toSorted((a, b) => a.index - b.index),
    totals: {
      created: count("created"),
      ...(updated > 0 && { updated }),
      duplicates: count("duplicate"),
      invalid: count("invalid"),
    },
  };
}

/** Whether an import opts numbers out. */
export function optsOut({ contacts, dryRun }: ImportContactsRequest): boolean {
  return !dryRun && contacts.some((row) => CreateContactRequest.safeParse(row).data?.optedOut === true);
}

/** How a contact that has the number of a row changes; undefined if it stays as it is. */
type Update = Pick<ImportContactsRequest, "columns"> | undefined;

/** Returns the results that the import of a chunk would have. */
async function tryChunk(
  organizationId: string,
  chunk: readonly Row[],
  update: Update,
): Promise<ImportedContact[]> {
  return Promise.all(
    chunk.map(async (row) => {
      const seen = await findContactOfNumber(organizationId, row.contact.phoneNumber);
      if (seen === undefined) return { index: row.index, status: "created", id: "" };
      return update === undefined ? duplicate(row) : merged(row, seen, update).result;
    }),
  );
}

/** Changes the results of new contacts for which the organization has no place. */
async function rejectSurplus(organizationId: string, results: ImportedContact[]): Promise<void> {
  let free = maxContacts - (await usedQuota(organizationId, "contactCount"));
  for (const [place, result] of results.entries()) {
    if (result.status !== "created") continue;
    if (free <= 0) results[place] = surplus(result);
    free -= 1;
  }
}

/** Returns what a row changes of a contact, and its result. */
function merged(
  { index, contact }: Row,
  seen: ContactRecord,
  { columns }: NonNullable<Update>,
): { readonly changes?: UpdateContactRequest; readonly result: ImportedContact } {
  const { optedOut } = contact;
  const nameOf = (field: "firstName" | "lastName"): string | null | undefined => {
    const name = contact[field] ?? (columns.includes(field) ? null : undefined);
    return name === (seen[field] ?? null) ? undefined : name;
  };
  const [firstName, lastName] = [nameOf("firstName"), nameOf("lastName")];
  const tags = [...new Set([...seen.tags, ...contact.tags])];
  const attributes = Object.fromEntries(
    Object.entries({ ...seen.attributes, ...contact.attributes }).filter(
      ([name]) => Object.hasOwn(contact.attributes, name) || !columns.includes(`attributes.${name}`),
    ),
  );
  const changed = validate(UpdateContactRequest, {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(tags.length > seen.tags.length && { tags }),
    ...(JSON.stringify(attributes) !== JSON.stringify(seen.attributes) && { attributes }),
    ...(optedOut && !seen.optedOut && { optedOut }),
  });
  if (!changed.success) return { result: { index, status: "invalid", details: [...changed.details] } };
  return { changes: changed.data, result: { index, status: "updated", id: seen.id } };
}

/** Updates the contact that has the number of a row. @returns the result, or undefined without such a contact or update */
async function updateRow(
  organizationId: string,
  row: Row,
  update: Update,
): Promise<ImportedContact | undefined> {
  if (update === undefined) return undefined;
  const updated = await untilUndisturbed(async () => {
    const seen = await findContactOfNumber(organizationId, row.contact.phoneNumber);
    if (seen === undefined) return "none";
    const { changes = {}, result } = merged(row, seen, update);
    const isMade =
      Object.keys(changes).length === 0 ||
      (await changeContact(seen, changes, { updatedAt: seen.updatedAt }));
    return isMade ? result : undefined;
  });
  return updated === "none" ? undefined : updated;
}

async function importChunk(
  organizationId: string,
  chunk: readonly Row[],
  update: Update,
): Promise<ImportedContact[]> {
  const resultOfTaken = async (row: Row): Promise<ImportedContact> =>
    (await updateRow(organizationId, row, update)) ?? duplicate(row);
  const updates = await Promise.all(chunk.map(async (row) => updateRow(organizationId, row, update)));
  const results: ImportedContact[] = updates.flatMap((result) => result ?? []);
  const left = chunk.filter((_, place) => updates[place] === undefined);
  let rows = await Promise.all(
    left.map(async (row): Promise<NewRow> => ({
      ...row,
      record: await newContact(organizationId, row.contact),
    })),
  );
  for (let attempt = 1; attempt <= chunkAttempts; attempt += 1) {
    if (rows.length === 0) return results;
    const byId = rows.map(({ record, contact }) => [record.id, contactPuts(record, contact)] as const);
    const written = await transact<string>({
      quota: takeQuota(organizationId, "contactCount", maxContacts, rows.length),
      ...Object.fromEntries(byId),
    });
    if (written.outcome === "committed") return [...results, ...rows.map(created)];
    const { quota, ...rejections } = written.rejections;
    const isTaken = ({ record }: NewRow): boolean => rejections[record.id] !== undefined;
    const taken = rows.filter(isTaken);
    results.push(...(await Promise.all(taken.map(resultOfTaken))));
    rows = rows.filter((row) => !isTaken(row));
    // Without the taken numbers the quota may suffice, so it counts only when there was no other rejection.
    if (taken.length === 0 && quota !== undefined) {
      const free = maxContacts - OrganizationRecord.parse(quota.found).contactCount;
      results.push(...rows.slice(free).map(surplus));
      rows = rows.slice(0, free);
    }
  }
  throw new ApiError("UNAVAILABLE");
}

function created({ index, record }: NewRow): ImportedContact {
  return { index, status: "created", id: record.id };
}

function duplicate({ index, contact }: Row): ImportedContact {
  return { index, status: "duplicate", phoneNumber: contact.phoneNumber };
}

function surplus({ index }: Pick<Row, "index">): ImportedContact {
  return { index, status: "invalid", details: [{ path: "", message: tooManyContacts }] };
}
