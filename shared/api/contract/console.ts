import * as z from "zod/mini";

export const ConsoleFileParams = z.object({
  file: z.string().check(z.regex(/^[\w-]{1,60}\.(css|js)$/, "must be the name of a script or a style sheet")),
});

/** The features of a stage that the console shows. */
export type ConsoleFeature = "docs" | "payments" | "sandbox" | "top-up";

/** The text of a page, a script or a style sheet. */
export const ConsoleContent = z.string();
