import * as z from "zod";

import { GivenPhoneNumber, PhoneNumber } from "./phone-numbers.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";

const Name = text(100);

export const Tag = z
  .string()
  .regex(
    /^ *[\p{L}\p{M}\p{N}_.-](?:[\p{L}\p{M}\p{N} _.-]{0,48}[\p{L}\p{M}\p{N}_.-])? *$/u,
    "must be 1 to 50 letters, digits, spaces, underscores, dots or hyphens",
  )
  .trim()
  .meta({
    description:
      "1 to 50 letters, digits, spaces, underscores, dots and hyphens. Spaces around it are taken off; beside " +
      "that it is compared as it is written.",
  });

const Tags = z
  .array(Tag)
  .max(20)
  .refine((tags) => new Set(tags).size === tags.length, "must not name a tag twice")
  .meta({ uniqueItems: true });

const maxAttributes = 20;

const Attributes = z
  .record(
    z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9_]{0,31}$/,
        "must be a letter, then up to 31 letters, digits and underscores",
      ),
    text(200),
  )
  .refine(
    (attributes) => Object.keys(attributes).length <= maxAttributes,
    `must have at most ${maxAttributes} entries`,
  )
  .meta({
    maxProperties: maxAttributes,
    description: "Whatever else you know of the contact, by names that templates can use.",
  });

const OptedOut = z.boolean().meta({
  description:
    "Whether the person behind the number wants no campaigns and no other marketing: the opt-out of the number, which a " +
    "new contact takes over.",
});

export const CreateContactRequest = z
  .object({
    phoneNumber: GivenPhoneNumber,
    firstName: Name.optional(),
    lastName: Name.optional(),
    tags: Tags.default([]),
    attributes: Attributes.default({}),
    optedOut: OptedOut.default(false),
  })
  .meta({
    id: "CreateContactRequest",
    examples: [
      {
        phoneNumber: "15005550010",
        firstName: "Grace",
        tags: ["customers"],
        attributes: { city: "London" },
      },
    ],
  });
export type CreateContactRequest = z.infer<typeof CreateContactRequest>;

export const UpdateContactRequest = z
  .object({
    phoneNumber: GivenPhoneNumber.optional(),
    firstName: Name.nullable().optional(),
    lastName: Name.nullable().optional(),
    tags: Tags.nullable().optional(),
    attributes: Attributes.nullable().optional(),
    optedOut: OptedOut.optional(),
  })
  .meta({
    id: "UpdateContactRequest",
    description:
      "Fields that are not there stay as they are; `null` clears one. Tags and attributes are replaced as a whole.",
    examples: [{ lastName: "Hopper", attributes: { city: "New York" } }],
  });
export type UpdateContactRequest = z.infer<typeof UpdateContactRequest>;

export const ContactParams = z.object({ id: idSchema("con") });

export const Contact = z
  .object({
    id: idSchema("con"),
    phoneNumber: PhoneNumber,
    firstName: z.string().optional(),
    lastName: z.string().optional(),
    tags: z.array(z.string()),
    attributes: z.record(z.string(), z.string()),
    optedOut: OptedOut,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "Contact" });
export type Contact = z.infer<typeof Contact>;

export const DeletedContact = z
  .object({ id: idSchema("con"), deleted: z.literal(true) })
  .meta({ id: "DeletedContact" });

export const ImportContactsRequest = z
  .object({
    contacts: z
      // The rows are checked one by one, so that a bad one does not stop the others.
      .array(z.unknown().meta({ $ref: "#/components/schemas/CreateContactRequest" }))
      .min(1)
      .max(1_000)
      .meta({ description: "Each row stands by itself: one that is not valid is answered with `invalid`." }),
  })
  .meta({
    id: "ImportContactsRequest",
    examples: [
      {
        contacts: [
          { phoneNumber: "15005550011", firstName: "Edsger" },
          { phoneNumber: "15005550010", firstName: "Grace" },
        ],
      },
    ],
  });
export type ImportContactsRequest = z.infer<typeof ImportContactsRequest>;

const Index = z.int().meta({ description: "The row's place in the request, from 0." });

export const ImportedContact = z
  .discriminatedUnion("status", [
    z.object({ index: Index, status: z.literal("created"), id: idSchema("con") }),
    z
      .object({ index: Index, status: z.literal("duplicate"), phoneNumber: PhoneNumber })
      .meta({ description: "A contact of the organisation, or an earlier row, has the number." }),
    z.object({
      index: Index,
      status: z.literal("invalid"),
      details: z.array(z.object({ path: z.string(), message: z.string() })),
    }),
  ])
  .meta({ id: "ImportedContact", description: "What became of one row." });
export type ImportedContact = z.infer<typeof ImportedContact>;

export const ImportedContacts = z
  .object({
    results: z.array(ImportedContact).meta({ description: "In the order of the rows." }),
    totals: z.object({ created: z.int(), duplicates: z.int(), invalid: z.int() }),
  })
  .meta({ id: "ImportedContacts" });
export type ImportedContacts = z.infer<typeof ImportedContacts>;
