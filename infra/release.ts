import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

import { projectRoot } from "./project-root.ts";

/**
 * What is deployed from this folder: the version of the package and, where the folder is a checkout, the commit, with
 * `-dirty` behind it when files differ from that. For example `0.2.0+dc6a5bb1f0c2`.
 */
export function releaseText(): string {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(path.join(projectRoot, "package.json"), "utf8")));
  const commit = findCommit();
  return commit === undefined ? version : `${version}+${commit}`;
}

function findCommit(): string | undefined {
  try {
    const args = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    return execFileSync("git", args, { cwd: projectRoot, encoding: "utf8", stdio }).trim();
  } catch {
    // A copy without a history, or a machine without git.
    return undefined;
  }
}
