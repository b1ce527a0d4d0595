import * as z from "zod/mini";

export const ConsoleFileParams = z.object({
  file: z.string().check(z.regex(/^[\w-]{1,60}\.(css|js)$/, "must be the name of a script or a style sheet")),
});

/** The features of a stage that the console shows, and what it requires before the first live message. */
export type ConsoleFeature =
  | "approved-sender-ids"
  | "docs"
  | "kyc"
  | "payments"
  | "sandbox"
  | "top-up"
  | "verified-email";

/** The text of a page, a script or a style sheet. */
export const ConsoleContent = z.string();
