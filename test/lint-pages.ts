import { globSync, readFileSync } from "node:fs";
import path from "node:path";

import { projectRoot } from "../infra/project-root.ts";
import { findingsInPage } from "./conventions/prose/pages.ts";

// `npm run lint:pages` checks the prose and the layout of all pages, or of those that it is given.

const named = process.argv.slice(2);
const all = globSync(["*.md", ".github/**/*.md", "{functions,infra,shared,test}/**/*.md"], {
  cwd: projectRoot,
  exclude: (name) => name.includes("node_modules"),
});
const pages = named.length > 0 ? named : all.toSorted();
for (const page of pages) {
  for (const { line, found, advice } of await findingsInPage(
    page,
    readFileSync(path.join(projectRoot, page), "utf8"),
  )) {
    process.stdout.write(`${page}:${line}: ${found}: ${advice}\n`);
    process.exitCode = 1;
  }
}
