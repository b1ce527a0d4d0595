import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { projectRoot } from "../../infra/build/project-root.ts";

async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: projectRoot });
  return stdout.trim();
}

/**
 * Returns the id of a commit or tag. Fetches it where a clone of CI has the newest commit only.
 * @throws Error where the history does not contain it
 */
export async function commitId(name: string): Promise<string> {
  const idOf = async (revision: string): Promise<string> =>
    run("git", "rev-parse", "--verify", "--quiet", `${revision}^{commit}`);
  try {
    return await idOf(name).catch(async () => {
      await run("git", "fetch", "--quiet", "--depth=1", "origin", name);
      return idOf("FETCH_HEAD");
    });
  } catch (cause) {
    throw new Error(
      `${name} is not in this clone, and could not be fetched from origin. Clone with the whole history (fetch-depth: 0).`,
      { cause },
    );
  }
}

/** Returns the newest tag of a release before the present commit; undefined without one. */
export async function newestTag(): Promise<string | undefined> {
  return run("git", "describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^").catch(() => undefined);
}

/** Extracts the files of a commit into a folder, which it empties first. */
export async function extractCommit(id: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const archive = path.join(folder, "archive.tar");
  await run("git", "archive", "--output", archive, id);
  await run("tar", "-xf", archive, "-C", folder);
  await rm(archive);
}
