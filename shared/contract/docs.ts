import * as z from "zod";

/** The files that the reference page loads, as the package that draws it names them. */
export const DocsFile = z.enum(["swagger-ui.css", "swagger-ui-bundle.js"]);
export type DocsFile = z.infer<typeof DocsFile>;
