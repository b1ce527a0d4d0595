import { mkdir, rm } from "node:fs/promises";
import path from "node:path";

import { apiVersion } from "../../../shared/api/contract/version.ts";
import { projectRoot } from "../project-root.ts";
import { packNpmPackage } from "../sdks/npm.ts";
import { writePostmanCollection } from "../sdks/postman.ts";
import { writeWheel } from "../sdks/wheel.ts";
import { packAssemblies, writeBillOfMaterials, writeNotes, writeOpenApiDocument } from "./artifacts.ts";

// `npm run release`: builds the artifacts of a release in `.build/release`. `-- v1.2.3` checks the tag first.

const folder = path.join(projectRoot, ".build/release");
const [tag] = process.argv.slice(2);
if (tag !== undefined && tag !== `v${apiVersion}`) {
  throw new Error(`The tag is ${tag}, but the version is ${apiVersion}`);
}
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const files = [
  await writeNotes(folder),
  await writeOpenApiDocument(folder),
  await writeBillOfMaterials(folder),
  await writePostmanCollection(folder),
  await packNpmPackage(folder),
  await writeWheel(folder),
  ...(await packAssemblies(folder)),
];
process.stdout.write(files.map((file) => `${file}\n`).join(""));
