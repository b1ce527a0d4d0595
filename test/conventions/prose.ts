import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

import { findingsIn, type Finding } from "./prose/findings.ts";

// `node test/conventions/prose.ts [--summary] PATH …` prints what `.github/STYLE.md` does not allow in the comments,
// strings and pages of files and folders. `--summary` prints the number for each file.

const ignored = /(?:^|\/)(?:node_modules|\.build|\.local|\.git)(?:\/|$)/;

/** @returns the files with prose in a folder, or the file itself */
function filesOf(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  const files = globSync("**/*.{ts,tsx,mjs,js,css,md,py,toml,yaml,yml}", {
    cwd: place,
    exclude: (name) => ignored.test(name),
  });
  return files.map((file) => path.join(place, file)).toSorted();
}

/** @returns what has to change in the files of a folder, by file */
export function findingsOf(place: string): Map<string, Finding[]> {
  const found = new Map<string, Finding[]>();
  for (const file of filesOf(place)) {
    const findings = findingsIn(file, readFileSync(file, "utf8"));
    if (findings.length > 0) found.set(file, findings);
  }
  return found;
}

if (import.meta.main) {
  const isSummary = process.argv.includes("--summary");
  let count = 0;
  for (const place of process.argv.slice(2).filter((argument) => !argument.startsWith("--"))) {
    for (const [file, findings] of findingsOf(place)) {
      count += findings.length;
      if (isSummary) process.stdout.write(`${findings.length}\t${file}\n`);
      else {
        for (const { line, found, advice } of findings)
          process.stdout.write(`${file}:${line}: "${found}": ${advice}\n`);
      }
    }
  }
  process.stdout.write(`${count} found\n`);
  if (count > 0) process.exitCode = 1;
}
