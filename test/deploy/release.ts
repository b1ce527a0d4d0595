import { mkdir, rm, symlink } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../../infra/project-root.ts";
import { workFolder } from "./emulator.ts";
import { mustRun, run } from "./program.ts";

/**
 * Version 0.2.0, the last that was released. It has no tag: it is the commit before the first of the changes that the
 * changelog lists behind it.
 */
export const releasedCommit = "cf0facbab96e3fd81066d33778a1afbc99c83844";

/**
 * Lays the sources of the released version out beside this one's, with the packages of today.
 * @returns their folder
 * @throws Error where the history does not reach back to it
 */
export async function checkOutRelease(): Promise<string> {
  await fetchRelease();
  const folder = path.join(workFolder, "release");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const archive = path.join(workFolder, "release.tar");
  const parts = ["functions", "infra", "shared", "cdk.json", "package.json"];
  await mustRun("git", ["archive", "--output", archive, releasedCommit, ...parts]);
  await mustRun("tar", ["-xf", archive, "-C", folder]);
  await symlink(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

/** A clone that CI made may have the newest commit only. */
async function fetchRelease(): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await run("git", ["cat-file", "-e", `${releasedCommit}^{commit}`])).code === 0;
  if (await isThere()) return;
  await run("git", ["fetch", "--quiet", "--depth=1", "origin", releasedCommit]);
  if (await isThere()) return;
  throw new Error(
    `The released commit ${releasedCommit} is not in this clone and could not be fetched from origin: ` +
      "the upgrade cannot be tried. Clone with the whole history (fetch-depth: 0).",
  );
}
