import { glob, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build, type BuildOptions, type Plugin } from "esbuild";

import { DocsFile } from "../shared/contract/docs.ts";
import { projectRoot } from "./project-root.ts";

const bundlesFolder = path.join(projectRoot, ".build/functions");
const handlersFolder = path.join(projectRoot, ".build/handlers");
const partsFolder = path.join(projectRoot, ".build/parts");

const require = createRequire(import.meta.url);
const swaggerUiFolder = path.dirname(require.resolve("swagger-ui-dist/package.json"));

/** Bundles are ES modules, but some packages still call `require` for Node's own modules. */
const requireBanner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Bundles every file in `functions/` on its own, into `.build/functions/<tag>/<name>/index.mjs`, and puts what
 * the reference page loads beside the function that serves it, compressed.
 */
export async function bundleFunctions(): Promise<void> {
  const handlers = await sources("functions/*/*.ts");
  const options: BuildOptions = {
    absWorkingDir: projectRoot,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    legalComments: "none",
    logLevel: "warning",
  };
  for (const folder of [handlersFolder, partsFolder, bundlesFolder]) {
    await rm(folder, { recursive: true, force: true });
  }
  // A handler first takes its row out of the file that has all rows of its tag. The others would be left out of its
  // bundle later too, but all that is in a file has a say in the short names, also what is not used.
  await build({
    ...options,
    entryPoints: handlers.map((name) => ({ in: `${name}.ts`, out: name })),
    outdir: handlersFolder,
    packages: "external",
    plugins: [rowsOnly],
  });
  // Nearly all that a bundle consists of is in others too. What they share is read and shaken once for all, as parts;
  // from these the bundles are made in half the time, and with a third of the memory, of making each from the sources.
  // Each shared file is a part of its own, with all that it exports. Made of what handlers happen to use, the parts, and
  // with them the short names in every bundle, would change as soon as a single handler came to use more.
  await build({
    ...options,
    entryPoints: [
      ...(await sources("shared/**/*.ts")).map((name) => ({ in: `${name}.ts`, out: name })),
      ...handlers.map((name) => ({ in: path.join(handlersFolder, `${name}.mjs`), out: name })),
    ],
    outdir: partsFolder,
    splitting: true,
    // Most of the SDK ships a CommonJS and an ES build; only the latter can be shaken.
    mainFields: ["module", "main"],
    // Lambda always hands a function its credentials in the environment. The SDK's default chain also knows
    // profiles, SSO, web identity and instance metadata: a quarter of each bundle, never used.
    alias: { "@aws-sdk/credential-provider-node": "./infra/lambda-credentials.ts" },
  });
  await build({
    ...options,
    entryPoints: handlers.map((name) => ({
      in: path.join(partsFolder, `${name}.mjs`),
      out: `${name}/index`,
    })),
    outdir: path.dirname(bundlesFolder),
    minify: true,
    banner: { js: requireBanner },
  });
  for (const file of DocsFile.options) {
    const content = await readFile(path.join(swaggerUiFolder, file));
    await writeFile(
      path.join(bundleFolder("docs/get-docs-file"), `${file}.gz`),
      gzipSync(content, { level: 9 }),
    );
  }
}

/** Brings rows of the route table into a handler, and leaves all else to be imported, unless nothing of it is used. */
const rowsOnly: Plugin = {
  name: "rows-only",
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^\.\.?\// }, ({ kind, path: imported, resolveDir }) => {
      const file = path.join(resolveDir, imported);
      const isTaken =
        kind === "entry-point" || path.dirname(file) === path.join(projectRoot, "shared/routes");
      return isTaken ? undefined : { path: file, external: true, sideEffects: false };
    });
  },
};

/** The source files of a pattern without their ending, in an order that every machine gives them. */
async function sources(pattern: string): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob(pattern, { cwd: projectRoot })) {
    names.push(file.replace(/\.ts$/, "").replaceAll(path.sep, "/"));
  }
  return names.toSorted();
}

/** The folder with the bundle of `functions/<name>.ts`. */
export function bundleFolder(name: string): string {
  return path.join(bundlesFolder, name);
}
