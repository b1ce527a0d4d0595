import { execFile, spawnSync } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { buildOnce } from "../../infra/build/build-once.ts";
import { projectRoot } from "../../infra/build/project-root.ts";
import { hasPython } from "../../infra/build/python-programs.ts";
import { pythonVersion } from "../../infra/build/sdks/python-version.ts";

const run = promisify(execFile);

/** How each language of the samples is found. PHP needs its extension for HTTP. */
const probes = {
  curl: ["curl", "--version"],
  typescript: ["node", "--version"],
  python: ["python3", "-c", "import venv, ensurepip"],
  php: ["php", "-r", "exit(extension_loaded('curl') ? 0 : 1);"],
  go: ["go", "version"],
  java: ["javac", "--version"],
  ruby: ["ruby", "--version"],
} as const;
export type SampleLanguage = keyof typeof probes;

/** Returns those of the languages whose samples can run here, and prints the others. */
export function installedLanguages<Name extends SampleLanguage>(names: readonly Name[]): Name[] {
  const installed = names.filter((name) => {
    const [program, ...options] = probes[name];
    return spawnSync(program, options).status === 0;
  });
  const missing = names.filter((name) => !installed.includes(name));
  if (missing.length > 0)
    process.stdout.write(`Left out: samples in ${missing.join(", ")}, because it is missing.\n`);
  return installed;
}

/** Where programs find the packages of a gateway. */
export interface InstalledPackages {
  /** A folder whose Node programs can import the package. */
  readonly nodeFolder: string;
  /** A Python that has the package; undefined without Python 3 with venv. */
  readonly python: string | undefined;
}

/**
 * Downloads the packages for TypeScript and Python from a gateway, and installs them, once for all files. Programs in
 * TypeScript find theirs in a copy.
 * @param folder the place of the copy
 */
export async function installPackages(gatewayUrl: string, folder: string): Promise<InstalledPackages> {
  const withPython = await hasPython();
  const name = "customer-packages";
  const installed = path.join(projectRoot, ".build", name);
  await buildOnce(name, String(withPython), async () => {
    await rm(installed, { recursive: true, force: true });
    await downloadAndInstall(gatewayUrl, installed, withPython);
  });
  const nodeFolder = path.join(folder, "node");
  await cp(path.join(installed, "node"), nodeFolder, { recursive: true });
  return { nodeFolder, python: withPython ? path.join(installed, "python/bin/python") : undefined };
}

async function downloadAndInstall(gatewayUrl: string, folder: string, withPython: boolean): Promise<void> {
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  const download = async (name: string): Promise<string> => {
    const response = await fetch(`${gatewayUrl}/docs/packages/${name}`);
    const file = path.join(folder, name);
    await writeFile(file, await response.bytes());
    return file;
  };
  const nodeFolder = path.join(folder, "node");
  await mkdir(nodeFolder, { recursive: true });
  // As `npm init -y` of npm 11 writes it.
  await writeFile(path.join(nodeFolder, "package.json"), `{ "private": true, "type": "commonjs" }`);
  const npmPackage = await download(`sms-gateway-${version}.tgz`);
  await run("npm", ["install", "--no-audit", "--no-fund", npmPackage], { cwd: nodeFolder });
  if (!withPython) return;
  const environment = path.join(folder, "python");
  await run("python3", ["-m", "venv", environment]);
  const wheel = await download(`sms_gateway-${pythonVersion}-py3-none-any.whl`);
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel];
  await run(path.join(environment, "bin/python"), install);
}
