import {
  Contact,
  ContactParams,
  ContactsQuery,
  CreateContactRequest,
  DeletedContact,
  ImportContactsRequest,
  ImportedContacts,
  UpdateContactRequest,
} from "../contract/contacts.ts";
import type { Route } from "./route.ts";

export const listContacts = {
  method: "GET",
  path: "/v1/contacts",
  summary: "List contacts, newest first; filter by name, number or tag",
  description: "Contacts have a number, a name, tags and attributes that texts can use.",
  scope: "read",
  query: ContactsQuery,
  data: Contact,
  paged: true,
} as const satisfies Route;

export const createContact = {
  method: "POST",
  path: "/v1/contacts",
  summary: "Add a contact; a phone number belongs to one contact of an organization",
  description: "A number that has opted out before stays opted out.",
  scope: "contacts",
  body: CreateContactRequest,
  status: 201,
  data: Contact,
  idempotent: true,
  audited: ["id", "phoneNumber", "optedOut"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const importContacts = {
  method: "POST",
  path: "/v1/contacts/import",
  summary: "Import up to 1,000 contacts; each row succeeds or fails by itself",
  description:
    "Repeat the same request after a failure: rows that were imported are reported as duplicates, or updated again.",
  scope: "contacts",
  body: ImportContactsRequest,
  maxBodyKilobytes: 1_024,
  data: ImportedContacts,
  idempotent: true,
  audited: ["totals"],
} as const satisfies Route;

export const getContact = {
  method: "GET",
  path: "/v1/contacts/{id}",
  summary: "Get a contact",
  description: "It has the tags and attributes, and whether the number has opted out.",
  scope: "read",
  params: ContactParams,
  data: Contact,
} as const satisfies Route;

export const updateContact = {
  method: "PATCH",
  path: "/v1/contacts/{id}",
  summary: "Change the given fields of a contact; null clears an optional one",
  description: "Tags and attributes are replaced as a whole. Unknown fields are rejected.",
  scope: "contacts",
  params: ContactParams,
  body: UpdateContactRequest,
  data: Contact,
  audited: ["id", "phoneNumber", "optedOut"],
  errors: ["CONFLICT", "OPT_OUT_BY_REPLY"],
} as const satisfies Route;

export const deleteContact = {
  method: "DELETE",
  path: "/v1/contacts/{id}",
  summary: "Delete a contact",
  description: "The opt-out of the number stays.",
  scope: "contacts",
  params: ContactParams,
  data: DeletedContact,
} as const satisfies Route;

export const routes = {
  listContacts,
  createContact,
  importContacts,
  getContact,
  updateContact,
  deleteContact,
};
