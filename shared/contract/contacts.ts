import * as z from "zod";

import { idSchema, PhoneNumber, text, Timestamp } from "./primitives.ts";

const Name = text(100);

/** Blanks around a tag are taken off; beside that a tag is compared as it is written. */
export const Tag = z
  .string()
  .trim()
  .regex(
    /^[\p{L}\p{M}\p{N} _.-]{1,50}$/u,
    "must be 1 to 50 letters, digits, spaces, underscores, dots or hyphens",
  );

const Tags = z
  .array(Tag)
  .max(20)
  .refine((tags) => new Set(tags).size === tags.length, "must not name a tag twice");

const maxAttributes = 20;

/** Whatever else the customer knows of a contact, by names that templates can use. */
const Attributes = z
  .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/), text(200))
  .refine(
    (attributes) => Object.keys(attributes).length <= maxAttributes,
    `must have at most ${maxAttributes} entries`,
  );

export const CreateContactRequest = z.object({
  phoneNumber: PhoneNumber,
  firstName: Name.optional(),
  lastName: Name.optional(),
  tags: Tags.default([]),
  attributes: Attributes.default({}),
  /** Whether the person behind the number wants no campaigns. */
  optedOut: z.boolean().default(false),
});
export type CreateContactRequest = z.infer<typeof CreateContactRequest>;

/** Fields that are not there stay as they are; `null` clears one. Tags and attributes are replaced as a whole. */
export const UpdateContactRequest = z.object({
  phoneNumber: PhoneNumber.optional(),
  firstName: Name.nullable().optional(),
  lastName: Name.nullable().optional(),
  tags: Tags.nullable().optional(),
  attributes: Attributes.nullable().optional(),
  optedOut: z.boolean().optional(),
});
export type UpdateContactRequest = z.infer<typeof UpdateContactRequest>;

export const Contact = z.object({
  id: idSchema("con"),
  phoneNumber: PhoneNumber,
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  tags: z.array(z.string()),
  attributes: z.record(z.string(), z.string()),
  optedOut: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Contact = z.infer<typeof Contact>;

export const DeletedContact = z.object({ id: idSchema("con"), deleted: z.literal(true) });

/** The rows are checked one by one, so that a bad one does not stop the others. */
export const ImportContactsRequest = z.object({
  contacts: z
    .array(z.unknown().meta({ description: "A contact, as POST /v1/contacts takes it" }))
    .min(1)
    .max(1_000),
});
export type ImportContactsRequest = z.infer<typeof ImportContactsRequest>;

/** What became of one row, by its place in the request. */
export const ImportedContact = z.discriminatedUnion("status", [
  z.object({ index: z.int(), status: z.literal("created"), id: idSchema("con") }),
  /** A contact of the organisation, or an earlier row, has the number. */
  z.object({ index: z.int(), status: z.literal("duplicate"), phoneNumber: PhoneNumber }),
  z.object({
    index: z.int(),
    status: z.literal("invalid"),
    details: z.array(z.object({ path: z.string(), message: z.string() })),
  }),
]);
export type ImportedContact = z.infer<typeof ImportedContact>;

export const ImportedContacts = z.object({
  results: z.array(ImportedContact),
  totals: z.object({ created: z.int(), duplicates: z.int(), invalid: z.int() }),
});
export type ImportedContacts = z.infer<typeof ImportedContacts>;
