import * as z from "zod/mini";

/** The files that the reference page loads, as the package that draws it names them. */
export const DocsFile = z.enum(["swagger-ui.css", "swagger-ui-bundle.js"]);
export type DocsFile = z.infer<typeof DocsFile>;

export const DocsFileParams = z.object({ file: DocsFile });

/** The text of a page, a script or a style sheet. */
export const DocsContent = z.string();

export const OpenApiDocument = z.looseObject({ openapi: z.string() });
