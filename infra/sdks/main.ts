import { mkdir } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../project-root.ts";
import { generatedLanguages, generateSdk } from "./generate.ts";
import { packNpmPackage } from "./npm.ts";
import { writePostmanCollection } from "./postman.ts";
import { buildPythonPackage } from "./wheel.ts";

// `npm run sdks` builds the packages and the Postman collection in `.build/sdks`, and generates the SDKs of the other
// languages there. `-- go` generates only these.

const folder = path.join(projectRoot, ".build/sdks");
const chosen = process.argv.slice(2);
const languages = generatedLanguages.filter((language) => chosen.length === 0 || chosen.includes(language));
await mkdir(folder, { recursive: true });
const built =
  chosen.length > 0
    ? []
    : [
        await packNpmPackage(folder),
        ...(await buildPythonPackage(folder)),
        await writePostmanCollection(folder),
      ];
for (const language of languages) built.push(await generateSdk(language));
process.stdout.write(built.map((file) => `${file}\n`).join(""));
