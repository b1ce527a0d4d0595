import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../project-root.ts";
import { zipOf } from "../zip.ts";
import { sdkContract } from "./operations.ts";
import { pythonVersion } from "./python-version.ts";
import { pythonFiles, synchronous } from "./python.ts";

const sourceFolder = path.join(projectRoot, "shared/api/client/python");

/** The description of the package, before its README. */
const metadata = `Metadata-Version: 2.4
Name: sms-gateway
Version: ${pythonVersion}
Summary: The Python SDK for sending SMS
License-Expression: MIT
License-File: LICENSE
Keywords: sms,webhooks
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: httpx<1,>=0.27
Description-Content-Type: text/markdown
`;

const wheel = "Wheel-Version: 1.0\nGenerator: sms-gateway\nRoot-Is-Purelib: true\nTag: py3-none-any\n";

/** Builds the Python SDK as a wheel, which pip installs as it is. @returns its path in the folder */
export async function writeWheel(folder: string): Promise<string> {
  const modules = path.join(sourceFolder, "src/sms_gateway");
  const files = new Map<string, Buffer>();
  const add = (name: string, content: Buffer | string): Map<string, Buffer> =>
    files.set(name, Buffer.from(content));
  for (const name of (await readdir(modules)).filter((each) => /\.(py|typed)$/.test(each)).toSorted()) {
    const content = await readFile(path.join(modules, name), "utf8");
    add(`sms_gateway/${name}`, content);
    if (name === "_async.py") add("sms_gateway/_sync.py", synchronous(content));
  }
  for (const [name, content] of Object.entries(pythonFiles(sdkContract(), pythonVersion))) {
    add(`sms_gateway/${name}`, content);
  }
  const about = `sms_gateway-${pythonVersion}.dist-info`;
  add(`${about}/licenses/LICENSE`, await readFile(path.join(projectRoot, "LICENSE")));
  const readme = await readFile(path.join(sourceFolder, "README.md"), "utf8");
  add(`${about}/METADATA`, `${metadata}\n${readme}`);
  add(`${about}/WHEEL`, wheel);
  const records = [...files].map(
    ([name, content]) =>
      `${name},sha256=${createHash("sha256").update(content).digest("base64url")},${content.length}\n`,
  );
  add(`${about}/RECORD`, `${records.join("")}${about}/RECORD,,\n`);
  const file = path.join(folder, `sms_gateway-${pythonVersion}-py3-none-any.whl`);
  await writeFile(file, zipOf(files));
  return file;
}
