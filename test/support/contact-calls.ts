import { expect } from "vitest";

import { Contact } from "../../shared/api/contract/contacts.ts";
import { dataOf, pageOf, type ApiResponse, type Customer } from "./api.ts";

let lastNumber = 15_005_551_000;

/** Returns a number that no other contact of this process has. */
export function newNumber(): string {
  lastNumber += 1;
  return String(lastNumber);
}

/** Creates a contact, which must be accepted. */
export async function createContact(
  customer: Customer,
  fields: Record<string, unknown> = {},
): Promise<Contact> {
  const response = await customer.call("/v1/contacts", { json: { phoneNumber: newNumber(), ...fields } });
  expect(response.status).toBe(201);
  return dataOf(response, Contact);
}

export async function changeContact(
  customer: Customer,
  id: string,
  json: Record<string, unknown>,
): Promise<ApiResponse> {
  return customer.call(`/v1/contacts/${id}`, { method: "PATCH", json });
}

export async function readContact(customer: Customer, id: string): Promise<Contact> {
  return dataOf(await customer.call(`/v1/contacts/${id}`), Contact);
}

export async function listContacts(
  customer: Customer,
  query = "",
): Promise<ReturnType<typeof pageOf<Contact>>> {
  return pageOf(await customer.call(`/v1/contacts?${query}`), Contact);
}
