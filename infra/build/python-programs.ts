import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { oneAtATime } from "./build-once.ts";
import { projectRoot } from "./project-root.ts";

const run = promisify(execFile);

/** Whether there is a Python 3 that can make virtual environments, which the gateway itself does not need. */
export async function hasPython(): Promise<boolean> {
  return run("python3", ["-c", "import venv, ensurepip"]).then(
    () => true,
    () => false,
  );
}

/** Installs the packages, with a tenth of pip's CPU time. */
const installer = "uv==0.13.9";

/**
 * Returns the folder with the programs that a file of requirements names. They are installed into `.build/` the first
 * time, and whenever the file changes. If several processes need them at the same time, one installs them.
 * @param requirementsFile from the project's root
 * @throws Error with what pip wrote when they cannot be installed
 */
export async function pythonPrograms(requirementsFile: string): Promise<string> {
  const requirements = await readFile(path.join(projectRoot, requirementsFile), "utf8");
  const environment = path.join(projectRoot, ".build/python", path.dirname(requirementsFile));
  const programs = path.join(environment, "bin");
  const installedFile = path.join(environment, "installed.txt");
  const isInstalled = async (): Promise<boolean> =>
    (await readFile(installedFile, "utf8").catch(() => "")) === requirements;
  if (await isInstalled()) return programs;
  await oneAtATime(path.join("python", path.dirname(requirementsFile)), async () => {
    if (await isInstalled()) return;
    await mkdir(environment, { recursive: true });
    await run("python3", ["-m", "venv", "--clear", environment]);
    const python = path.join(programs, "python");
    const install = ["pip", "install", "--quiet", "-r", path.join(projectRoot, requirementsFile)];
    await run(python, ["-m", "pip", "install", "--quiet", installer])
      .then(async () => run(path.join(programs, "uv"), [...install, "--python", python]))
      // uv does not read pip's settings, such as the address of a mirror.
      .catch(async () => run(python, ["-m", ...install]));
    await writeFile(installedFile, requirements);
  });
  return programs;
}
