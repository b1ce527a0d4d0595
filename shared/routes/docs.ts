import { DocsContent, DocsFileParams, OpenApiDocument } from "../contract/docs.ts";
import type { Route } from "./route.ts";

export const getOpenApi = {
  method: "GET",
  path: "/openapi.json",
  tag: "docs",
  summary: "Get this description as an OpenAPI document",
  internal: true,
  auth: "none",
  status: 200,
  data: OpenApiDocument,
  raw: ["application/json"],
  errors: [],
} as const satisfies Route;

export const getOpenApiYaml = {
  method: "GET",
  path: "/openapi.yaml",
  tag: "docs",
  summary: "Get this description as an OpenAPI document in YAML",
  internal: true,
  auth: "none",
  status: 200,
  data: DocsContent,
  raw: ["application/yaml"],
  errors: [],
} as const satisfies Route;

export const getDocs = {
  method: "GET",
  path: "/docs",
  tag: "docs",
  summary: "The API reference: this description as a web page, where requests can be tried",
  internal: true,
  auth: "none",
  status: 200,
  data: DocsContent,
  raw: ["text/html"],
  errors: [],
} as const satisfies Route;

export const getDocsFile = {
  method: "GET",
  path: "/docs/{file}",
  tag: "docs",
  summary: "A script or style sheet of the page",
  internal: true,
  auth: "none",
  params: DocsFileParams,
  status: 200,
  data: DocsContent,
  raw: ["text/css", "text/javascript"],
  errors: [],
} as const satisfies Route;

export const routes = { getOpenApi, getOpenApiYaml, getDocs, getDocsFile };
