import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

import { build } from "esbuild";
import * as z from "zod/mini";

import { apiVersion } from "../../../shared/api/contract/version.ts";
import { projectRoot } from "../project-root.ts";
import { sdkContract } from "./operations.ts";
import { typeScriptDeclarations } from "./typescript.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);

const sourceFolder = path.join(projectRoot, "shared/api/client");

/**
 * Builds the TypeScript SDK, and packs it for npm: one file of JavaScript without dependencies, and its types.
 * @returns the path of the package, a `.tgz` file in the folder
 */
export async function packNpmPackage(folder: string): Promise<string> {
  const contract = sdkContract();
  const packageFolder = await mkdtemp(path.join(folder, "npm-"));
  const endpoints = contract.operations.map(({ name, endpoint }) => [name, endpoint]);
  const options = {
    bundle: true,
    target: "es2022",
    define: {
      OPERATIONS: JSON.stringify(Object.fromEntries(endpoints)),
      VERSION: JSON.stringify(apiVersion),
    },
    logLevel: "warning",
  } as const;
  const files = { "index.mjs": "package", "index.js": "package", "cli.mjs": "cli" };
  for (const [name, source] of Object.entries(files)) {
    await build({
      ...options,
      entryPoints: [path.join(sourceFolder, `${source}.ts`)],
      outfile: path.join(packageFolder, name),
      format: name.endsWith(".mjs") ? "esm" : "cjs",
      platform: source === "cli" ? "node" : "neutral",
    });
  }
  const compiler = path.join(path.dirname(require.resolve("typescript/package.json")), "bin/tsc");
  const project = path.join(import.meta.dirname, "npm.tsconfig.json");
  await run(process.execPath, [compiler, "--project", project, "--outDir", packageFolder]);
  await writeFile(path.join(packageFolder, "index.d.ts"), typeScriptDeclarations(contract));
  await writeFile(path.join(packageFolder, "index.d.mts"), `export * from "./index.js";\n`);
  const { license } = z
    .object({ license: z.string() })
    .parse(JSON.parse(await readFile(path.join(projectRoot, "package.json"), "utf8")));
  const manifest = {
    name: "sms-gateway",
    version: apiVersion,
    description: "The TypeScript SDK for sending SMS",
    keywords: ["sms", "webhooks"],
    license,
    bin: { "sms-gateway": "cli.mjs" },
    types: "./index.d.ts",
    main: "./index.js",
    exports: {
      ".": {
        import: { types: "./index.d.mts", default: "./index.mjs" },
        require: { types: "./index.d.ts", default: "./index.js" },
      },
    },
    sideEffects: false,
    engines: { node: ">=20.3" },
  };
  await writeFile(path.join(packageFolder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await copyFile(path.join(projectRoot, "LICENSE"), path.join(packageFolder, "LICENSE"));
  await copyFile(path.join(sourceFolder, "README.md"), path.join(packageFolder, "README.md"));
  await run("npm", ["pack", "--pack-destination", folder], { cwd: packageFolder });
  await rm(packageFolder, { recursive: true });
  return path.join(folder, `sms-gateway-${apiVersion}.tgz`);
}
