import * as z from "zod/mini";

/** The address of a page or a file of the documentation, after `/docs/`. */
export const DocsPageParams = z.object({ path: z.string().check(z.maxLength(200)) });

/** A page of the documentation, or a part of it, as the search finds it. */
export interface SearchRecord {
  readonly id: number;
  readonly address: string;
  readonly title: string;
  readonly section: string;
  readonly text: string;
}

/** The text of a page, a script or a style sheet. */
export const DocsContent = z.string();

export const OpenApiDocument = z.looseObject({ openapi: z.string() });
