import { execFile } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { apiVersion } from "../../shared/contract/version.ts";
import { projectRoot } from "../project-root.ts";
import { pythonPrograms } from "../python-programs.ts";
import { sdkContract } from "./operations.ts";
import { pythonFiles, synchronous } from "./python.ts";

const run = promisify(execFile);

const sourceFolder = path.join(projectRoot, "shared/client/python");

/**
 * Builds the Python SDK.
 * @returns the paths of the source distribution and the wheel, in the folder
 */
export async function buildPythonPackage(folder: string): Promise<string[]> {
  const packageFolder = path.join(projectRoot, ".build/sdks/python");
  await rm(packageFolder, { recursive: true, force: true });
  await writePythonPackage(packageFolder);
  const python = path.join(await pythonPrograms("infra/sdks/requirements.txt"), "python");
  const options = ["--no-isolation", "--outdir", folder];
  await run(python, ["-m", "build", ...options], { cwd: packageFolder });
  return [`sms_gateway-${apiVersion}.tar.gz`, `sms_gateway-${apiVersion}-py3-none-any.whl`].map((name) =>
    path.join(folder, name),
  );
}

/** Writes the sources of the package, with the generated ones, to a folder. */
export async function writePythonPackage(packageFolder: string): Promise<void> {
  await cp(sourceFolder, packageFolder, { recursive: true });
  await cp(path.join(projectRoot, "LICENSE"), path.join(packageFolder, "LICENSE"));
  const modules = path.join(packageFolder, "src/sms_gateway");
  const caller = await readFile(path.join(modules, "_async.py"), "utf8");
  await writeFile(path.join(modules, "_sync.py"), synchronous(caller));
  for (const [name, source] of Object.entries(pythonFiles(sdkContract(), apiVersion))) {
    await writeFile(path.join(modules, name), source);
  }
}
