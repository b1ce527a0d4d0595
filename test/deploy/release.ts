import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../../infra/project-root.ts";
import { workFolder } from "./emulator.ts";
import { mustRun, run } from "./program.ts";

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
  await fetchCommit();
  const folder = path.join(workFolder, "release");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const archive = path.join(workFolder, "release.tar");
  const parts = ["functions", "infra", "shared", "cdk.json", "package.json", "tsconfig.json"];
  await mustRun("git", ["archive", "--output", archive, singleStackCommit, ...parts]);
  await mustRun("tar", ["-xf", archive, "-C", folder]);
  await writeFile(path.join(folder, "infra/stages/kept.json"), JSON.stringify(keptStage));
  await symlink(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

/** Fetches the commit, because a clone that CI made may have the newest commit only. */
async function fetchCommit(): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await run("git", ["cat-file", "-e", `${singleStackCommit}^{commit}`])).code === 0;
  if (await isThere()) return;
  await run("git", ["fetch", "--quiet", "--depth=1", "origin", singleStackCommit]);
  if (await isThere()) return;
  throw new Error(
    `The commit ${singleStackCommit} is not in this clone and could not be fetched from origin: ` +
      "the adoption of its table cannot be tested. Clone with the whole history (fetch-depth: 0).",
  );
}
