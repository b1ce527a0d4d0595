import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../project-root.ts";
import { releasedChangelog } from "./changelog.ts";

// `npm version minor` runs this after it has set the version in package.json, and before it commits and tags.

const { npm_package_version: version } = process.env;
if (version === undefined) throw new Error("npm version runs this script");

const changelogFile = path.join(projectRoot, "CHANGELOG.md");
const date = new Date().toISOString().slice(0, 10);
await writeFile(changelogFile, releasedChangelog(await readFile(changelogFile, "utf8"), version, date));

const versionFile = path.join(projectRoot, "shared/contract/version.ts");
const source = await readFile(versionFile, "utf8");
await writeFile(versionFile, source.replace(/"\d[^"]*"/, `"${version}"`));
