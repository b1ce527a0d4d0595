import * as z from "zod";

import { DocsFile } from "../contract/docs.ts";
import type { Route } from "./route.ts";

export const routes = {
  getRoot: {
    method: "GET",
    path: "/",
    tag: "docs",
    summary: "Leads to the page about this API",
    auth: "none",
    status: 200,
    data: z.string(),
    raw: ["text/html"],
    errors: [],
  },
  getOpenApi: {
    method: "GET",
    path: "/openapi.json",
    tag: "docs",
    summary: "This description, as an OpenAPI document",
    auth: "none",
    status: 200,
    data: z.looseObject({ openapi: z.string() }),
    raw: ["application/json"],
    errors: [],
  },
  getDocs: {
    method: "GET",
    path: "/docs",
    tag: "docs",
    summary: "This description, as a page to read and to try the API from",
    auth: "none",
    status: 200,
    data: z.string(),
    raw: ["text/html"],
    errors: [],
  },
  getDocsFile: {
    method: "GET",
    path: "/docs/{file}",
    tag: "docs",
    summary: "A script or style sheet of the page",
    auth: "none",
    params: z.object({ file: DocsFile }),
    status: 200,
    data: z.string(),
    raw: ["text/css", "text/javascript"],
    errors: [],
  },
} as const satisfies Record<string, Route>;
