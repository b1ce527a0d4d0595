import { glob, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

import { DocsFile } from "../shared/contract/docs.ts";
import { projectRoot } from "./project-root.ts";

const bundlesFolder = path.join(projectRoot, ".build/functions");

const require = createRequire(import.meta.url);
const swaggerUiFolder = path.dirname(require.resolve("swagger-ui-dist/package.json"));

/** Bundles are ES modules, but some packages still call `require` for Node's own modules. */
const requireBanner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Bundles every file in `functions/` on its own, into `.build/functions/<tag>/<name>/index.mjs`, and puts what
 * the reference page loads beside the function that serves it, compressed.
 * @returns the size of each bundle in bytes, by `<tag>/<name>`
 */
export async function bundleFunctions(): Promise<Map<string, number>> {
  const names: string[] = [];
  for await (const file of glob("*/*.ts", { cwd: path.join(projectRoot, "functions") })) {
    names.push(file.replace(/\.ts$/, ""));
  }
  await rm(bundlesFolder, { recursive: true, force: true });
  const result = await build({
    entryPoints: names.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    absWorkingDir: projectRoot,
    outdir: bundlesFolder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    minify: true,
    legalComments: "none",
    // Most of the SDK ships a CommonJS and an ES build; only the latter can be shaken.
    mainFields: ["module", "main"],
    banner: { js: requireBanner },
    // Lambda always hands a function its credentials in the environment. The SDK's default chain also knows
    // profiles, SSO, web identity and instance metadata: a quarter of each bundle, never used.
    alias: { "@aws-sdk/credential-provider-node": "./infra/lambda-credentials.ts" },
    metafile: true,
    logLevel: "warning",
  });
  for (const file of DocsFile.options) {
    const content = await readFile(path.join(swaggerUiFolder, file));
    await writeFile(
      path.join(bundleFolder("docs/get-docs-file"), `${file}.gz`),
      gzipSync(content, { level: 9 }),
    );
  }
  return new Map(
    Object.entries(result.metafile.outputs).map(([file, { bytes }]) => [
      path.relative(".build/functions", path.dirname(file)),
      bytes,
    ]),
  );
}

/** The folder with the bundle of `functions/<name>.ts`. */
export function bundleFolder(name: string): string {
  return path.join(bundlesFolder, name);
}
