import path from "node:path";

import { projectRoot } from "./project-root.ts";

/** The folder with the bundles of all functions. */
export const bundlesFolder = path.join(projectRoot, ".build/functions");

/** The layer with the fonts of invoices, which has 33 MB. Six functions share it. */
export const fontsFolder = path.join(projectRoot, ".build/fonts");

/** Returns the folder with the bundle of `functions/<name>.ts`. */
export function bundleFolder(name: string): string {
  return path.join(bundlesFolder, name);
}
