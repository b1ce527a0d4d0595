import { ConsoleContent, ConsoleFileParams } from "../contract/console.ts";
import type { Route } from "./route.ts";

export const getConsole = {
  method: "GET",
  path: "/console",
  summary: "The console: a web page for all operations",
  internal: true,
  auth: "none",
  data: ConsoleContent,
  raw: ["text/html"],
} as const satisfies Route;

export const getConsoleFile = {
  method: "GET",
  path: "/console/{file}",
  summary: "A script or style sheet of the console",
  internal: true,
  auth: "none",
  params: ConsoleFileParams,
  data: ConsoleContent,
  raw: ["text/css", "text/javascript"],
} as const satisfies Route;

export const routes = { getConsole, getConsoleFile };
