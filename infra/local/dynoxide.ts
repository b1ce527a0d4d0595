import { exec, execFile } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

import * as z from "zod";

import { projectRoot } from "../project-root.ts";

const platform = `${process.platform}-${process.arch}`;
const packageName = `@dynoxide/${platform}`;
const programName = process.platform === "win32" ? "dynoxide.exe" : "dynoxide";

const Manifest = z.object({ optionalDependencies: z.object({ "@dynoxide/linux-x64": z.string() }) });

interface Places {
  /** The file that the installed package is looked for from. */
  readonly importer: string;
  /** Where what was fetched stays. */
  readonly cacheFolder: string;
}

/**
 * The program of the embedded DynamoDB. The lock file has the package for Linux on x64; where that is not installed,
 * the platform's own package is fetched once, in the same version, and found again without a network.
 * @param log takes the sentence that says so
 * @throws Error that names the way out, when npm cannot fetch it
 */
export async function findDynoxide(
  log: (line: string) => void,
  { importer, cacheFolder }: Places = {
    importer: import.meta.url,
    cacheFolder: path.join(projectRoot, ".build/dynoxide"),
  },
): Promise<string> {
  const manifest = await readFile(path.join(projectRoot, "package.json"), "utf8");
  const version = Manifest.parse(JSON.parse(manifest)).optionalDependencies["@dynoxide/linux-x64"];
  const installed = installedFolder(importer);
  if (installed !== undefined) return path.join(installed, programName);
  const folder = path.join(cacheFolder, `${version}-${platform}`);
  const program = path.join(folder, "node_modules", packageName, programName);
  if (await exists(program)) return program;
  log(`Fetching the embedded DynamoDB for ${platform}, this once: ${packageName} ${version}.`);
  try {
    await install(`${packageName}@${version}`, folder);
    await access(program);
  } catch (error) {
    // Another start fetched it too, and was done first.
    if (await exists(program)) return program;
    throw new Error(
      `npm could not fetch the embedded DynamoDB for ${platform}:\n${firstLines(String(error))}\n` +
        "Run a DynamoDB of your own and name it, for example: DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start",
      { cause: error },
    );
  }
  return program;
}

function installedFolder(importer: string): string | undefined {
  try {
    return path.dirname(createRequire(importer).resolve(`${packageName}/package.json`));
  } catch {
    return undefined;
  }
}

/** Lets npm install a package into a folder, all of it or nothing. */
async function install(packageAndVersion: string, folder: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  const args = ["install", "--prefix", ".", "--no-save", "--ignore-scripts", packageAndVersion];
  const npm = process.env["npm_execpath"];
  try {
    // On Windows `npm` is a batch file, which only a shell can run; npm itself tells its scripts where its program is.
    await (npm?.endsWith("npm-cli.js") === true
      ? promisify(execFile)(process.execPath, [npm, ...args], { cwd: unfinished })
      : promisify(exec)(`npm ${args.join(" ")}`, { cwd: unfinished }));
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true });
    throw error;
  }
}

/** What npm said of an error, without where in its code that was. */
function firstLines(error: string): string {
  const lines = error.split("\n");
  const ofNpm = lines.filter((line) => line.startsWith("npm error"));
  return (ofNpm.length > 0 ? ofNpm : lines).slice(0, 4).join("\n");
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
