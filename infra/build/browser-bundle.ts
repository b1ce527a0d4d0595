import { createHash } from "node:crypto";
import path from "node:path";

import { build } from "esbuild";

import { projectRoot } from "./project-root.ts";

/** The files of a bundle, by their names. */
export type BrowserFiles = readonly (readonly [name: string, text: string])[];

/**
 * Bundles an application.
 * @param entryPoints files below the folder, which is that of the console by default
 */
export async function bundleForBrowser(
  entryPoints: readonly string[],
  folder = "functions/console/app",
  options: { readonly entryNames?: string; readonly splitting?: boolean } = {},
): Promise<BrowserFiles> {
  const { outputFiles } = await build({
    absWorkingDir: projectRoot,
    entryPoints: entryPoints.map((name) => path.join(projectRoot, folder, name)),
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
  return outputFiles.map((file) => [path.basename(file.path), file.text] as const);
}

/**
 * Bundles an application with a file for each part that is loaded later. The names of the files have a hash of all their
 * contents. The hashes of esbuild also depend on the folders of packages, and would differ in another checkout.
 */
export async function hashedBundle(entryPoints: readonly string[], folder?: string): Promise<BrowserFiles> {
  const files = await bundleForBrowser(entryPoints, folder, { entryNames: "[name]-[hash]", splitting: true });
  const hashed = /\b([\w-]+)-[0-9A-Z]{8}\.(css|js)\b/g;
  const byContent = files
    .map(([name, text]) => ({
      name,
      text,
      content: `${name.replace(hashed, "$1.$2")} ${text.replaceAll(hashed, "")}`,
    }))
    .toSorted((one, other) => (one.content < other.content ? -1 : 1));
  const digest = createHash("sha256")
    .update(byContent.map(({ content }) => content).join("\n"))
    .digest("hex")
    .slice(0, 12);
  const names = new Map(
    byContent.map(({ name }, index) => [name, name.replace(hashed, `$1-${digest}${index}.$2`)]),
  );
  const renamed = (found: string): string => names.get(found) ?? found;
  return byContent.map(({ name, text }) => [renamed(name), text.replaceAll(hashed, renamed)] as const);
}

/** Returns the name of the main script or the main style sheet. */
export function mainFile(files: BrowserFiles, ending: string): string {
  const [name] = files.find(([each]) => each.startsWith("main-") && each.endsWith(`.${ending}`)) ?? [];
  if (name === undefined) throw new Error(`the bundle has no main.${ending}`);
  return name;
}
