import { execFile } from "node:child_process";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { apiVersion } from "../../../shared/api/contract/version.ts";
import { projectRoot } from "../project-root.ts";
import { notesOf } from "./changelog.ts";

const run = promisify(execFile);

/** The stages whose cloud assemblies belong to a release. */
const releasedStages = ["dev", "prod"];

/** Writes the OpenAPI document of the release. @returns its path */
export async function writeOpenApiDocument(folder: string): Promise<string> {
  const file = path.join(folder, `openapi-${apiVersion}.json`);
  await runNode("infra/local/recordings/main.ts");
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

/** Writes the list of all packages that the lock file names (CycloneDX). @returns its path */
export async function writeBillOfMaterials(folder: string): Promise<string> {
  const file = path.join(folder, `sms-gateway-${apiVersion}.cdx.json`);
  const options = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { stdout } = await run("npm", options, { cwd: projectRoot, maxBuffer: 64 * 2 ** 20 });
  await writeFile(file, stdout);
  return file;
}

async function runNode(script: string, ...options: readonly string[]): Promise<void> {
  await run(process.execPath, [script, ...options], { cwd: projectRoot });
}
