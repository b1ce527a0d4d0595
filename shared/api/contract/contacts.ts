import * as z from "zod/mini";

import { about, namedEnum, namedObject, withExample } from "./about.ts";
import { GivenPhoneNumber, PhoneNumber } from "./phone-numbers.ts";
import {
  ErrorDetail,
  idSchema,
  PageQuery,
  SearchText,
  text,
  Timestamp,
  trimmed,
  Version,
} from "./primitives.ts";
import { notNull } from "./validation.ts";

const Name = text(100).check(z.overwrite(trimmed));

export const Tag = about(
  z
    .string()
    .check(
      z.regex(
        /^ *[\p{L}\p{M}\p{N}_.-](?:[\p{L}\p{M}\p{N} _.-]{0,48}[\p{L}\p{M}\p{N}_.-])? *$/u,
        "must be 1 to 50 letters, digits, spaces, underscores, dots or hyphens",
      ),
      z.trim(),
    ),
  "1 to 50 letters, digits, spaces, underscores, dots and hyphens. Spaces around it are taken off; beside " +
    "that it is compared as it is written.",
);

const Tags = z
  .array(Tag)
  .check(
    z.maxLength(20),
    z.refine((tags) => new Set(tags).size === tags.length, "must not name a tag twice"),
  )
  .register(z.globalRegistry, { uniqueItems: true });

const maxAttributes = 20;

const Attributes = z
  .record(
    z
      .string()
      .check(
        z.regex(
          /^[A-Za-z][A-Za-z0-9_]{0,31}$/,
          "must be a letter, then up to 31 letters, digits and underscores",
        ),
      ),
    text(200),
  )
  .check(
    z.refine(
      (attributes) => Object.keys(attributes).length <= maxAttributes,
      `must have at most ${maxAttributes} entries`,
    ),
  )
  .register(z.globalRegistry, {
    maxProperties: maxAttributes,
    description: "Additional values of the contact, by names that templates can use.",
  });

const OptedOut = about(
  z.boolean(),
  "Whether the number has opted out of campaigns and other marketing. A new contact starts with the number's present " +
    "opt-out.",
);

export const CreateContactRequest = withExample(
  namedObject("CreateContactRequest", {
    phoneNumber: GivenPhoneNumber,
    firstName: z.optional(Name),
    lastName: z.optional(Name),
    tags: z._default(Tags, []),
    attributes: z._default(Attributes, {}),
    optedOut: z._default(OptedOut, false),
  }),
  {
    phoneNumber: "15005550010",
    firstName: "Grace",
    tags: ["customers"],
    attributes: { city: "London" },
  },
);
export type CreateContactRequest = z.infer<typeof CreateContactRequest>;

export const UpdateContactRequest = z
  .strictObject({
    phoneNumber: z.optional(GivenPhoneNumber),
    firstName: z.optional(z.nullable(Name)),
    lastName: z.optional(z.nullable(Name)),
    tags: z.optional(z.nullable(Tags)),
    attributes: z.optional(z.nullable(Attributes)),
    optedOut: z.optional(OptedOut),
    version: z.optional(Version),
  })
  .register(z.globalRegistry, {
    id: "UpdateContactRequest",
    description:
      "Fields that are not there stay as they are; `null` clears one. Tags and attributes are replaced as a whole.",
    examples: [{ lastName: "Hopper", attributes: { city: "New York" } }],
  });
export type UpdateContactRequest = z.infer<typeof UpdateContactRequest>;

export const ContactParams = z.object({ id: idSchema("con") });

export const Contact = namedObject("Contact", {
  id: idSchema("con"),
  phoneNumber: PhoneNumber,
  firstName: z.optional(z.string()),
  lastName: z.optional(z.string()),
  tags: z.array(z.string()),
  attributes: z.record(z.string(), z.string()),
  optedOut: OptedOut,
  version: Version,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Contact = z.infer<typeof Contact>;

export const ContactsQuery = z.safeExtend(PageQuery, {
  search: about(
    z.optional(SearchText),
    "Only contacts whose name contains this, in upper or lower case, or whose number contains these three digits or " +
      "more. A whole number is found by its key. With a filter, each call reads up to 25,000 contacts (about 1,600 read " +
      "units) until its page is full. `total` counts the matches among them. A page may be short or empty although " +
      "`nextCursor` shows that more follow.",
  ),
  tag: about(z.optional(Tag), "Only contacts with this tag."),
});
export type ContactsQuery = z.infer<typeof ContactsQuery>;

export const DeletedContact = namedObject("DeletedContact", {
  id: idSchema("con"),
  deleted: z.literal(true),
});

const columnRule = "must be `firstName`, `lastName` or `attributes.` with the name of an attribute";
const Column = z
  .string(columnRule)
  .check(z.regex(/^((first|last)Name|attributes\.[A-Za-z][A-Za-z0-9_]{0,31})$/, columnRule));

const OnDuplicate = about(
  namedEnum("OnDuplicate", ["skip", "update"]),
  "Whether a contact that has the number of a row stays as it is (`skip`) or is changed (`update`). Then the names of the " +
    "row replace its own, and the tags and attributes of the row are added to its own. A row never lifts an opt-out.",
);

export const ImportContactsRequest = withExample(
  namedObject("ImportContactsRequest", {
    contacts: about(
      z
        // The rows are checked one by one, so that a bad one does not stop the others.
        .array(z.unknown().register(z.globalRegistry, { $ref: "#/components/schemas/CreateContactRequest" }))
        .check(z.minLength(1), z.maxLength(1_000)),
      "Each row is processed by itself. The result of a row that is not valid is `invalid`.",
    ),
    onDuplicate: z._default(OnDuplicate, "skip"),
    columns: about(
      z._default(z.array(Column).check(z.maxLength(1_000)), []),
      "The columns of a spreadsheet, such as `firstName` and `attributes.city`. An update clears those that a row has no value " +
        "for. All other fields stay if a row does not have them.",
    ),
    dryRun: about(
      notNull(z._default(z.boolean(), false)),
      "Whether nothing is written. The totals are those of the import, and `results` has only the rows that it would " +
        "not take.",
    ),
  }),
  {
    contacts: [
      { phoneNumber: "15005550011", firstName: "Edsger" },
      { phoneNumber: "15005550010", firstName: "Grace" },
    ],
  },
);
export type ImportContactsRequest = z.infer<typeof ImportContactsRequest>;

const Index = about(z.int(), "The row's place in the request, from 0.");

export const ImportedContact = z
  .discriminatedUnion("status", [
    namedObject("ImportedContactCreated", {
      index: Index,
      status: z.literal("created"),
      id: idSchema("con"),
    }),
    namedObject("ImportedContactUpdated", {
      index: Index,
      status: z.literal("updated"),
      id: idSchema("con"),
    }),
    about(
      namedObject("ImportedContactDuplicate", {
        index: Index,
        status: z.literal("duplicate"),
        phoneNumber: PhoneNumber,
      }),
      "A contact of the organization, or an earlier row, has the number.",
    ),
    namedObject("ImportedContactInvalid", {
      index: Index,
      status: z.literal("invalid"),
      details: z.array(ErrorDetail),
    }),
  ])
  .register(z.globalRegistry, { id: "ImportedContact", description: "The result of one row." });
export type ImportedContact = z.infer<typeof ImportedContact>;

export const ImportedContacts = namedObject("ImportedContacts", {
  results: about(z.array(ImportedContact), "In the order of the rows."),
  totals: z.object({
    created: z.int(),
    updated: about(z.optional(z.int()), "Absent where there are none."),
    duplicates: z.int(),
    invalid: z.int(),
  }),
});
export type ImportedContacts = z.infer<typeof ImportedContacts>;
