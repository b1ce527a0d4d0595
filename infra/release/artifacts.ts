import { execFile } from "node:child_process";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import * as z from "zod/mini";

import { apiVersion } from "../../shared/contract/version.ts";
import { projectRoot } from "../project-root.ts";
import { notesOf } from "./changelog.ts";

const run = promisify(execFile);

/** Where the compiler writes the client before it is packed. */
const clientFolder = path.join(projectRoot, ".build/client");

/** The stages whose cloud assemblies belong to a release. */
const releasedStages = ["dev", "prod"];

const Package = z.object({
  license: z.string(),
  dependencies: z.looseObject({ zod: z.string() }),
  engines: z.object({ node: z.string() }),
});

/**
 * Compiles `shared/client.ts` to JavaScript with type declarations, and packs it for npm.
 * @returns the path of the package, a `.tgz` file in the folder
 */
export async function packClient(folder: string): Promise<string> {
  await rm(clientFolder, { recursive: true, force: true });
  await runNode("node_modules/typescript/bin/tsc", "--project", "infra/release/client.tsconfig.json");
  const { license, dependencies, engines } = Package.parse(
    JSON.parse(await readFile(path.join(projectRoot, "package.json"), "utf8")),
  );
  const manifest = {
    name: "@sms-gateway/client",
    version: apiVersion,
    description: "A typed client of the SMS gateway's API",
    license,
    type: "module",
    exports: { ".": "./client.js", "./contract/*": "./contract/*.js" },
    engines,
    dependencies: { zod: dependencies.zod },
  };
  await writeFile(path.join(clientFolder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await copyFile(path.join(projectRoot, "LICENSE"), path.join(clientFolder, "LICENSE"));
  await copyFile(path.join(import.meta.dirname, "client-readme.md"), path.join(clientFolder, "README.md"));
  await run("npm", ["pack", "--pack-destination", folder], { cwd: clientFolder });
  return path.join(folder, `sms-gateway-client-${apiVersion}.tgz`);
}

/** Writes the OpenAPI document of the release. @returns its path */
export async function writeOpenApiDocument(folder: string): Promise<string> {
  const file = path.join(folder, `openapi-${apiVersion}.json`);
  await runNode("infra/openapi/main.ts");
  await copyFile(path.join(projectRoot, ".build/openapi.json"), file);
  return file;
}

/**
 * Synthesizes each released stage into a cloud assembly: templates with all bundles, which
 * `cdk deploy --app FOLDER` deploys without a checkout.
 * @returns the paths of the archives
 */
export async function packAssemblies(folder: string): Promise<string[]> {
  const archives: string[] = [];
  for (const stage of releasedStages) {
    const assembly = path.join(folder, `sms-gateway-${apiVersion}-${stage}`);
    const options = ["--quiet", "--no-notices", "-c", `stage=${stage}`, "--output", assembly];
    await runNode("node_modules/aws-cdk/bin/cdk", "synth", ...options);
    await run("tar", ["-czf", `${assembly}.tgz`, "-C", folder, path.basename(assembly)]);
    await rm(assembly, { recursive: true });
    archives.push(`${assembly}.tgz`);
  }
  return archives;
}

/** Writes the release notes: the section of the changelog. @returns their path */
export async function writeNotes(folder: string): Promise<string> {
  const file = path.join(folder, "notes.md");
  await writeFile(file, notesOf(await readFile(path.join(projectRoot, "CHANGELOG.md"), "utf8"), apiVersion));
  return file;
}

async function runNode(script: string, ...options: readonly string[]): Promise<void> {
  await run(process.execPath, [script, ...options], { cwd: projectRoot });
}
