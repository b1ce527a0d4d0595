import {
  CreateContactRequest,
  type ImportContactsRequest,
  type ImportedContact,
  type ImportedContacts,
} from "../../api/contract/contacts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { validate } from "../../api/contract/validation.ts";
import { impossibility } from "../../messages/destinations/impossible-numbers.ts";
import { transact } from "../../platform/table/transact.ts";
import { takeQuota } from "../../tenancy/organizations/quota.ts";
import { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { tooManyContacts } from "./contacts.ts";
import { contactPuts, maxContacts, newContact, type ContactRecord } from "./record.ts";

/**
 * The contacts of one transaction, which has at most 100 writes: up to three for each contact, and one for the quota.
 */
const chunkSize = 33;

/** The attempts for a chunk. Usually one more without the numbers that are taken is enough; more are races. */
const chunkAttempts = 5;

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
 * Adds many contacts. An invalid row, or one whose number a contact or an earlier row has, does not stop the others.
 * One transaction writes a chunk and its quota. After a crash the same import adds the rest, because the written rows
 * are duplicates.
 * @throws ApiError UNAVAILABLE when too many other changes came in between; rows may have been written
 */
export async function importContacts(
  organizationId: string,
  { contacts }: ImportContactsRequest,
): Promise<ImportedContacts> {
  const results: ImportedContact[] = [];
  const rows: Row[] = [];
  const numbers = new Set<string>();
  for (const [index, contact] of contacts.entries()) {
    const parsed = validate(CreateContactRequest, contact);
    const problem = parsed.success ? impossibility(parsed.data.phoneNumber) : undefined;
    if (!parsed.success) {
      results.push({ index, status: "invalid", details: [...parsed.details] });
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
    results.push(...(await importChunk(organizationId, rows.slice(start, start + chunkSize))));
  }
  const count = (status: ImportedContact["status"]): number =>
    results.filter((result) => result.status === status).length;
  return {
    results: results.toSorted((a, b) => a.index - b.index),
    totals: { created: count("created"), duplicates: count("duplicate"), invalid: count("invalid") },
  };
}

/** Whether a row of an import has opted out. */
export function optsOut({ contacts }: ImportContactsRequest): boolean {
  return contacts.some((row) => CreateContactRequest.safeParse(row).data?.optedOut === true);
}

async function importChunk(organizationId: string, chunk: readonly Row[]): Promise<ImportedContact[]> {
  const results: ImportedContact[] = [];
  let rows = await Promise.all(
    chunk.map(async (row): Promise<NewRow> => ({
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
    results.push(...taken.map(duplicate));
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

function surplus({ index }: Row): ImportedContact {
  return { index, status: "invalid", details: [{ path: "", message: tooManyContacts }] };
}
