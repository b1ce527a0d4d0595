import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { findingsIn, type Finding } from "./prose/findings.ts";
import { findingsInPage } from "./prose/pages.ts";

// `node test/conventions/prose.ts [--pages] PATH …` prints what `.github/STYLE.md` does not allow in the comments, strings,
// exported names and pages of files and folders. With `--pages`, it reads pages only.

const ignored = /(?:^|\/)(?:node_modules|\.build|\.local|\.git)(?:\/|$)/;
const extensions = "{ts,tsx,mjs,js,css,py,toml,yaml,yml}";

/** @returns the files with prose in a folder, or the file itself */
function filesOf(place: string, ending: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  const files = globSync(`**/*.${ending}`, { cwd: place, exclude: (name) => ignored.test(name) });
  return files.map((file) => path.join(place, file)).toSorted();
}

/** @returns what has to change in the files of a folder that are no pages, each with its place */
export function findingsOf(place: string, isChosen: (file: string) => boolean = () => true): string[] {
  return filesOf(place, extensions)
    .filter(isChosen)
    .flatMap((file) => findingsIn(file, readFileSync(file, "utf8")).map((finding) => lineOf(file, finding)));
}

async function findingsInPages(place: string): Promise<string[]> {
  const found: string[] = [];
  for (const file of filesOf(place, "md")) {
    const findings = await findingsInPage(file, readFileSync(file, "utf8"));
    found.push(...findings.map((finding) => lineOf(file, finding)));
  }
  return found;
}

function lineOf(file: string, { line, found, advice }: Finding): string {
  return `${file}:${line}: "${found}": ${advice}`;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { pages: { type: "boolean", default: false } },
  });
  for (const place of positionals) {
    const isPage = place.endsWith(".md");
    const findings = [
      ...(values.pages || isPage ? [] : findingsOf(place)),
      ...(isPage || statSync(place).isDirectory() ? await findingsInPages(place) : []),
    ];
    for (const finding of findings) process.stdout.write(`${finding}\n`);
    if (findings.length > 0) process.exitCode = 1;
  }
}
