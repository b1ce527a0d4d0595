import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

import { projectRoot } from "../project-root.ts";

/** Returns the version of the package with the commit of the checkout, for example `0.3.0+dc6a5bb1f0c2`. */
export function releaseText(): string {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(path.join(projectRoot, "package.json"), "utf8")));
  const commit = findCommit();
  return commit === undefined ? version : `${version}+${commit}`;
}

/**
 * Returns the commit of the checkout, with `-dirty` if files differ from it.
 * @returns undefined without a checkout, or without git
 */
export function findCommit(): string | undefined {
  try {
    const args = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    return execFileSync("git", args, { cwd: projectRoot, encoding: "utf8", stdio }).trim();
  } catch {
    return undefined;
  }
}
