import * as z from "zod/mini";

import { about, namedEnum, namedObject } from "./about.ts";
import { RecipientsQuery } from "./campaigns.ts";
import { ContactsQuery } from "./contacts.ts";
import { MessagesQuery } from "./messages-query.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { idSchema, Timestamp } from "./primitives.ts";
import { TransactionsQuery } from "./wallet.ts";

const position = { page: true, limit: true, cursor: true } as const;

/** Each filter is the query of the list's own operation, without the page. */
export const CreateExportRequest = z
  .strictObject({
    messages: z.optional(
      z.extend(z.omit(z.strictObject(MessagesQuery.shape), position), {
        to: z.optional(PhoneNumber),
        scheduled: z.optional(z.boolean()),
        test: z.optional(z.boolean()),
      }),
    ),
    contacts: z.optional(z.omit(z.strictObject(ContactsQuery.shape), position)),
    transactions: z.optional(z.omit(z.strictObject(TransactionsQuery.shape), position)),
    campaignRecipients: z.optional(
      z.extend(z.omit(z.strictObject(RecipientsQuery.shape), position), { campaignId: idSchema("cmp") }),
    ),
  })
  .check(z.refine((lists) => Object.keys(lists).length === 1, "must name one list"))
  .register(z.globalRegistry, {
    id: "CreateExportRequest",
    minProperties: 1,
    maxProperties: 1,
    description:
      "One list with its filter, which has the fields of the query of the list. `{}` exports all rows.",
    examples: [{ messages: { status: "failed" } }],
  });
export type CreateExportRequest = z.infer<typeof CreateExportRequest>;

export const ExportedList = namedEnum("ExportedList", [
  "messages",
  "contacts",
  "transactions",
  "campaignRecipients",
]);
export type ExportedList = z.infer<typeof ExportedList>;

export const ExportStatus = about(
  namedEnum("ExportStatus", ["running", "ready", "failed"]),
  "`failed`: the list has more than 10,000,000 rows or 1,000 columns, or meanwhile it was deleted or the organization suspended.",
);

export const Export = namedObject("Export", {
  id: idSchema("exp"),
  list: ExportedList,
  status: ExportStatus,
  rows: about(z.int(), "The rows that were exported so far."),
  parts: about(z.int(), "The parts so far, to be read when it is ready."),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type Export = z.infer<typeof Export>;

export const ExportParams = z.object({ id: idSchema("exp") });

export const ExportPartParams = z.object({
  id: idSchema("exp"),
  part: z
    .string()
    .check(z.regex(/^[1-9]\d{0,5}$/, "must be the number of a part, from 1 on"))
    .register(z.globalRegistry, { examples: ["1"] }),
});

export const ExportPart = about(
  namedObject("ExportPart", { csv: z.string() }),
  "Rows as CSV (RFC 4180). The first part begins with the names of the columns.",
);
export type ExportPart = z.infer<typeof ExportPart>;
