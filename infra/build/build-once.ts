import { createHash } from "node:crypto";
import { access, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { projectRoot } from "./project-root.ts";

/** The sources of bundles and templates. The last file lists the installed packages. */
const sources = [
  "{functions,infra,shared}/**/*.*",
  "{cdk,package,tsconfig}.json",
  "{CHANGELOG.md,LICENSE}",
  "node_modules/.package-lock.json",
];

const buildFolder = path.join(projectRoot, ".build");

/** The digest of all sources, read once: changes while a process runs are for the next process. */
let digest: Promise<string> | undefined;

const lockPollMs = 100;
const longestBuildMs = 5 * 60_000;

/**
 * Builds a folder, unless it was built from the same sources before. If several processes need it at the same time, one
 * builds it and the others wait.
 * @param folder its name in `.build`
 * @param variant an input besides the sources, such as a stage
 * @param build writes the folder; after a failure, the next call builds again
 * @throws Error when another process has been building for five minutes
 */
export async function buildOnce(folder: string, variant: string, build: () => Promise<void>): Promise<void> {
  const stamp = path.join(buildFolder, "stamps", folder);
  const wanted = `${variant} ${process.version} ${await (digest ??= digestOf(sources, projectRoot))}`;
  const isBuilt = async (): Promise<boolean> =>
    (await readText(stamp)) === wanted && (await exists(path.join(buildFolder, folder)));
  if (await isBuilt()) return;
  await oneAtATime(folder, async () => {
    if (await isBuilt()) return;
    // An interrupted build leaves no stamp.
    await rm(stamp, { force: true });
    await build();
    await writeFile(stamp, wanted);
  });
}

/**
 * Does some work while no other process does work of the same name.
 * @throws Error when another process has been building for five minutes
 */
export async function oneAtATime(name: string, work: () => Promise<void>): Promise<void> {
  const lockFile = path.join(buildFolder, "stamps", `${name}.lock`);
  await mkdir(path.dirname(lockFile), { recursive: true });
  await lock(lockFile);
  try {
    await work();
  } finally {
    await rm(lockFile, { force: true });
  }
}

/** Creates a file with this process's id, as soon as no other running process holds it. */
async function lock(file: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestBuildMs; waitedMs += lockPollMs) {
    const isOurs = await writeFile(file, String(process.pid), { flag: "wx" }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return false;
        throw error;
      },
    );
    if (isOurs) return;
    const holder = await readText(file);
    // The file is empty for a moment after its creation.
    if (holder !== "" && !isAlive(Number(holder))) await rm(file, { force: true });
    else await delay(lockPollMs);
  }
  throw new Error(`Another process has been building for five minutes. If there is none, remove ${file}.`);
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // It runs, for another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Returns a digest of the files of a folder that match patterns. */
export async function digestOf(patterns: readonly string[], folder: string): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: folder, withFileTypes: true })) {
    if (file.isFile()) files.push(path.join(file.parentPath, file.name));
  }
  const hash = createHash("sha256");
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${path.relative(folder, file)} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
