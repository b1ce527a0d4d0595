import { BrandContent, BrandFileParams } from "../contract/brand.ts";
import type { Route } from "./route.ts";

export const getRoot = {
  method: "GET",
  path: "/",
  summary: "The start page: what the gateway offers, its prices, and where to begin",
  internal: true,
  auth: "none",
  data: BrandContent,
  raw: ["text/html"],
} as const satisfies Route;

export const getBrandFile = {
  method: "GET",
  path: "/brand/{file}",
  summary: "An image or the colors of the brand",
  internal: true,
  auth: "none",
  params: BrandFileParams,
  data: BrandContent,
  raw: ["image/png", "image/svg+xml", "text/css"],
} as const satisfies Route;

export const routes = { getRoot, getBrandFile };
