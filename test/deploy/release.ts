import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../../infra/project-root.ts";
import { commitId, extractCommit } from "../support/commits.ts";
import { workFolder } from "./emulator.ts";

/**
 * The last commit whose stack has all endpoints in one template. CloudFormation cannot turn such a stack into one with
 * nested stacks. It would create the new routes before it deletes the old ones, and a route cannot exist twice.
 */
const singleStackCommit = "9b0d95e18e6b868dd2da29108b24d414db4af859";

/**
 * Extracts the sources of the commit into a folder, with the packages of today.
 * @param keptStage the stage `kept`, with the settings as that commit names them
 * @returns the folder
 * @throws Error where the history does not contain the commit
 */
export async function checkOutSingleStack(keptStage: object): Promise<string> {
  const folder = path.join(workFolder, "release");
  const parts = ["functions", "infra", "shared", "cdk.json", "package.json", "tsconfig.json"];
  await extractCommit(await commitId(singleStackCommit), folder, parts);
  await writeFile(path.join(folder, "infra/stages/kept.json"), JSON.stringify(keptStage));
  await linkPackages(path.join(folder, "node_modules"));
  return folder;
}

/** Links the packages of today. That commit also bundles the files of a package that today's code does not have. */
async function linkPackages(folder: string): Promise<void> {
  await mkdir(folder);
  const present = path.join(projectRoot, "node_modules");
  for (const name of await readdir(present)) await symlink(path.join(present, name), path.join(folder, name));
  const missing = path.join(folder, "swagger-ui-dist");
  await mkdir(missing);
  for (const file of ["package.json", "swagger-ui-bundle.js", "swagger-ui.css"]) {
    await writeFile(path.join(missing, file), file === "package.json" ? "{}" : "");
  }
}
