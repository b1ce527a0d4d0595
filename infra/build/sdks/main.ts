import { mkdir } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../project-root.ts";
import { packNpmPackage } from "./npm.ts";
import { writePostmanCollection } from "./postman.ts";
import { writeWheel } from "./wheel.ts";

// `npm run sdks` builds the packages and the Postman collection in `.build/sdks`.

const folder = path.join(projectRoot, ".build/sdks");
await mkdir(folder, { recursive: true });
const built = [await packNpmPackage(folder), await writeWheel(folder), await writePostmanCollection(folder)];
process.stdout.write(built.map((file) => `${file}\n`).join(""));
