import path from "node:path";

import { build } from "esbuild";

import { projectRoot } from "./project-root.ts";

/**
 * Bundles an application that is made from the console's parts.
 * @param entryPoints files below `functions/console/app`
 * @returns the files by their names
 */
export async function bundleForBrowser(
  entryPoints: readonly string[],
  options: { readonly entryNames?: string; readonly splitting?: boolean } = {},
): Promise<[name: string, text: string][]> {
  const { outputFiles } = await build({
    absWorkingDir: projectRoot,
    entryPoints: entryPoints.map((name) => path.join(projectRoot, "functions/console/app", name)),
    outdir: path.join(projectRoot, ".build/parts"),
    write: false,
    bundle: true,
    minify: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
    ...options,
  });
  return outputFiles.map((file) => [path.basename(file.path), file.text]);
}
