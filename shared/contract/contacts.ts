import * as z from "zod";

import { idSchema, PhoneNumber, text, Timestamp } from "./primitives.ts";

const Name = text(100);

/** Blanks around a tag are taken off; beside that a tag is compared as it is written. */
const Tag = z
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
