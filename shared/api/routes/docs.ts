import { DocsContent, DocsPageParams, OpenApiDocument } from "../contract/docs.ts";
import type { Route } from "./route.ts";

export const getOpenApi = {
  method: "GET",
  path: "/openapi.json",
  summary: "Get this description as an OpenAPI document",
  internal: true,
  auth: "none",
  data: OpenApiDocument,
  raw: ["application/json"],
} as const satisfies Route;

export const getOpenApiYaml = {
  method: "GET",
  path: "/openapi.yaml",
  summary: "Get this description as an OpenAPI document in YAML",
  internal: true,
  auth: "none",
  data: DocsContent,
  raw: ["application/yaml"],
} as const satisfies Route;

export const getLlms = {
  method: "GET",
  path: "/llms.txt",
  summary: "The list of the documentation's pages, for language models",
  internal: true,
  auth: "none",
  data: DocsContent,
  raw: ["text/plain"],
} as const satisfies Route;

export const getDocs = {
  method: "GET",
  path: "/docs",
  summary: "The start page of the documentation",
  internal: true,
  auth: "none",
  data: DocsContent,
  raw: ["text/html"],
} as const satisfies Route;

export const getDocsPage = {
  method: "GET",
  path: "/docs/{path+}",
  summary: "A page, script or style sheet of the documentation",
  internal: true,
  auth: "none",
  params: DocsPageParams,
  data: DocsContent,
  raw: ["text/html", "text/markdown", "text/css", "text/javascript", "application/json"],
} as const satisfies Route;

export const routes = { getOpenApi, getOpenApiYaml, getLlms, getDocs, getDocsPage };
