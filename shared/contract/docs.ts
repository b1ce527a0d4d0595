import * as z from "zod/mini";

/** The address of a page or a file of the documentation, after `/docs/`. */
export const DocsPageParams = z.object({ path: z.string().check(z.maxLength(200)) });

/** The text of a page, a script or a style sheet. */
export const DocsContent = z.string();

export const OpenApiDocument = z.looseObject({ openapi: z.string() });
