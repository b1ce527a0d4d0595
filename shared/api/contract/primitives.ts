import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";

/**
 * Prefixes of the public ids. The rest of an id is a ULID, so ids of one kind sort by creation time. A digit after it is
 * the shard of the organization that holds the message and its deliveries. A `T` after it marks a test message.
 */
export type IdPrefix =
  | "apr"
  | "aud"
  | "bat"
  | "cmp"
  | "cnv"
  | "con"
  | "dlv"
  | "eml"
  | "evt"
  | "exp"
  | "hld"
  | "hok"
  | "inb"
  | "key"
  | "kyc"
  | "msg"
  | "org"
  | "pay"
  | "rfd"
  | "ses"
  | "sid"
  | "tpl"
  | "txn"
  | "usr"
  | "ver"
  | "whk";

const suffixes: { readonly [Prefix in IdPrefix]?: string } = {
  cnv: "T?",
  dlv: "[1-7]?",
  evt: "[1-7]?",
  msg: "[1-7T]?",
  inb: "T?",
  ver: "T?",
};

export function idSchema(prefix: IdPrefix): z.ZodMiniString<string> {
  return z
    .string()
    .check(
      z.regex(
        new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}${suffixes[prefix] ?? ""}$`),
        `not an id of the form ${prefix}_…`,
      ),
    );
}

/** More changes than any item gets. */
export const maxVersion = 1_000_000_000;

export const Version = z.int().check(z.gte(0), z.lte(maxVersion)).register(z.globalRegistry, {
  id: "Version",
  description:
    "Counts the changes. A change that names it is rejected with `CONFLICT` when there has been another one since.",
});

/** ISO 8601 in UTC, for example `2026-03-01T09:30:00.000Z`. */
export const Timestamp = z.iso.datetime();

/** Characters that every HTTP client and proxy passes on as they are. */
export const IdempotencyKey = z
  .string()
  .check(z.regex(/^[\x21-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters without spaces"));

/**
 * A string of at most `maxLength` Unicode code points. JSON Schema counts code points and zod counts UTF-16 units.
 * Counting here makes the enforced limit the published one. As with every limit of a length, no later check reads a
 * longer text, because a request has room for one that takes seconds.
 */
export function text(maxLength: number): z.ZodMiniString<string> {
  return z
    .string()
    .check(
      z.refine((value) => value.length <= maxLength || codePointCount(value) <= maxLength, {
        error: `must be at most ${maxLength} characters long`,
        abort: true,
      }),
    )
    .register(z.globalRegistry, { maxLength });
}

/**
 * A character that someone sees: no space, no control character, no mark of direction, no letter without a shape. A page break
 * counts, because it is a character of GSM-7.
 */
const visible =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- They are what it leaves out.
  /[^\u0000-\u000B\u000D-\u0020\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180E\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164\uFE00-\uFE0F\uFEFF\uFFA0]/;

/** The text of a message, or a name. Without a visible character no one could read it, and some carriers reject it. */
export function messageText(maxLength: number): z.ZodMiniString<string> {
  return text(maxLength).check(
    z.minLength(1, { error: "must not be empty", abort: true }),
    z.regex(visible, "must have a visible character"),
  );
}

/** Returns a text without the spaces at its ends, also those without a width. */
export function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && /[\s\u200B]/.test(value.charAt(start))) start += 1;
  while (end > start && /[\s\u200B]/.test(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

/** The URL of a customer that the gateway calls. */
export const EndpointUrl = z
  .string()
  .check(
    z.maxLength(2_048, { abort: true }),
    // A URL parser passes over some of them, so that a person would read another address than the one that is called.
    z.regex(/^[^\p{C}\p{Z}\\]*$/u, {
      error: "must have no spaces, backslashes or invisible characters",
      abort: true,
    }),
    // The parser would take a host from the path of `https:///hook`.
    z.refine((value) => /^\w+:\/\/[^/]/.test(value) && URL.canParse(value), "must be a URL"),
  )
  .register(z.globalRegistry, {
    format: "uri",
    description: "Your https endpoint, at a public address. A local gateway also takes http and loopback.",
  });

function codePointCount(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** All amounts of a gateway have the same currency. */
export const Currency = z
  .string()
  .check(z.regex(/^[A-Z]{3}$/, "must be an ISO 4217 code"))
  .register(z.globalRegistry, { examples: ["EUR"] });

/** The deepest row that `page` reaches; what lies deeper is reached with `cursor`. */
const maxPagedRows = 10_000;

export function integerParameter(minimum: number, maximum: number): z.ZodMiniType<number> {
  return z.pipe(
    z.transform((value) => (typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value)),
    z
      .int({ error: ({ code }) => (code === "invalid_type" ? "must be an integer" : undefined) })
      .check(z.gte(minimum), z.lte(maximum)),
  );
}

export const BooleanParameter = z.pipe(
  z.transform((value) => (value === "true" ? true : value === "false" ? false : value)),
  z.boolean('must be "true" or "false"'),
);

export const PageQuery = z
  .strictObject({
    page: about(
      z._default(integerParameter(1, Number.MAX_SAFE_INTEGER), 1),
      `Page to read. Pages reach the first ${maxPagedRows} rows. Use \`cursor\` for the others.`,
    ),
    limit: about(z._default(integerParameter(1, 100), 20), "Rows in a page, at most 100."),
    cursor: z.optional(
      about(
        z.string().check(z.regex(/^[A-Za-z0-9_-]{1,200}$/, "must be the nextCursor of an earlier response")),
        "The `meta.nextCursor` of an earlier response. With it, `page` has no effect.",
      ),
    ),
  })
  .check(
    z.refine(({ page, limit, cursor }) => cursor !== undefined || page * limit <= maxPagedRows, {
      path: ["page"],
      error: `pages reach the first ${maxPagedRows} rows; use cursor, the meta.nextCursor of each response, for the others`,
    }),
  );
export type PageQuery = z.infer<typeof PageQuery>;

/** A text that a list is searched for. */
export const SearchText = z.string().check(z.trim(), z.minLength(1), z.maxLength(100));

export const PageMeta = namedObject("PageMeta", {
  page: about(z.optional(z.int()), "Absent when the request has a `cursor`."),
  limit: z.int(),
  total: about(z.int(), "Rows in the whole list, unless `isPartial`."),
  totalPages: z.int(),
  isPartial: about(
    z.optional(z.literal(true)),
    "With a filter, that `total` and `totalPages` count only the rows that this response has searched. Follow `nextCursor` " +
      "for the others.",
  ),
  nextCursor: about(z.optional(z.string()), "Present when more rows follow."),
  searchedBackTo: about(
    z.optional(Timestamp.clone()),
    "With a filter and a `nextCursor`, how far back this response has searched.",
  ),
});
export type PageMeta = z.infer<typeof PageMeta>;

export interface Page<Row> {
  readonly rows: Row[];
  readonly meta: PageMeta;
}

export const ErrorDetail = namedObject("ErrorDetail", { path: z.string(), message: z.string() });

export const ErrorFields = namedObject("ErrorFields", {
  code: about(z.string(), "The reason: one of `ErrorCode`, or a code of a newer gateway."),
  message: z.string(),
  requestId: z.string(),
  docUrl: about(
    z.optional(z.string()),
    "The page about this error, where the gateway serves its documentation.",
  ),
  details: about(
    z.optional(z.array(ErrorDetail)),
    "The fields that are wrong, in dot notation; an empty `path` is the whole.",
  ),
});

export const ErrorBody = z.object({ error: ErrorFields });

/** A month in UTC, such as `2026-11`. */
export const Month = z
  .string("must be a month such as 2026-11")
  .check(z.regex(/^20\d\d-(0[1-9]|1[0-2])$/, "must be a month such as 2026-11"));
