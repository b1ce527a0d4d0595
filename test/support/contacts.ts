import { ImportedContacts } from "../../shared/api/contract/contacts.ts";
import { dataOf, type Customer } from "./api.ts";

/** The number of the contact with this index, which the sandbox accepts. */
export function numberOf(index: number): string {
  return String(15_006_000_000 + index);
}

/** Imports contacts with numbers in a row, some fields being the same for all. @returns their ids */
export async function importContacts(
  customer: Customer,
  count: number,
  fields: (index: number) => Record<string, unknown> = () => ({}),
): Promise<string[]> {
  const ids: string[] = [];
  for (let start = 0; start < count; start += 1_000) {
    const contacts = Array.from({ length: Math.min(1_000, count - start) }, (_, index) => ({
      phoneNumber: numberOf(start + index),
      ...fields(start + index),
    }));
    const response = await customer.call("/v1/contacts/import", { json: { contacts } });
    const { results } = dataOf(response, ImportedContacts);
    ids.push(...results.flatMap((result) => (result.status === "created" ? [result.id] : [])));
  }
  return ids;
}
