import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../project-root.ts";
import { releasedChangelog } from "./changelog.ts";

// `npm run release:prepare -- minor`: sets the next version everywhere, and dates the changelog. The argument is that of
// `npm version`: patch, minor, major, or a version. With `preminor` the sources after a release get a version such as
// `0.5.0-dev.0`, which no release has.

const [increment] = process.argv.slice(2);
if (increment === undefined) throw new Error("Usage: npm run release:prepare -- patch|minor|major|preminor");

const versionArguments = ["version", increment, "--preid=dev", "--no-git-tag-version"];
const tag = execFileSync("npm", versionArguments, { cwd: projectRoot, encoding: "utf8" }).trim();
const version = tag.replace(/^v/, "");
const date = new Date().toISOString().slice(0, 10);
const isReleased = !version.includes("-");
if (isReleased) await change("CHANGELOG.md", (changelog) => releasedChangelog(changelog, version, date));
await change("shared/api/contract/version.ts", (source) =>
  source.replace(/(?<=apiVersion = ")[^"]+/, version),
);
await change("shared/api/contract/examples.json", (examples) =>
  examples.replace(/(?<="version": ")[^"]+/, version),
);
process.stdout.write(
  isReleased
    ? `Commit the changes, tag the commit ${tag} and push both: the tag starts the release.\n`
    : "Commit the changes.\n",
);

async function change(name: string, edit: (content: string) => string): Promise<void> {
  const file = path.join(projectRoot, name);
  await writeFile(file, edit(await readFile(file, "utf8")));
}
