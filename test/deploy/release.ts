import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../../infra/project-root.ts";
import { workFolder } from "./emulator.ts";
import { mustRun, run } from "./program.ts";

/**
 * Version 0.2.0, the last that was released. It has no tag: it is the commit before the first of the changes that the
 * changelog lists behind it.
 */
export const releasedCommit = "cf0facbab96e3fd81066d33778a1afbc99c83844";

/** The stage that an operator of that version has, who wrote it into `infra/stages.ts`. */
const stage = '{ ...local, name: "kept", keepData: true }';

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
  await replace(folder, "infra/stages.ts", "[local, dev, prod]", `[local, dev, prod, ${stage}]`);
  // Its policies take it that each write of a transaction is judged by its own key; the emulator pools all of them.
  await replace(folder, "infra/constructs/gateway-function.ts", "ForAllValues", "ForAnyValue");
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

async function replace(folder: string, name: string, text: string, replacement: string): Promise<void> {
  const file = path.join(folder, name);
  const source = await readFile(file, "utf8");
  if (!source.includes(text)) throw new Error(`${name} of ${releasedCommit} has no ${text}`);
  await writeFile(file, source.replace(text, replacement));
}
