import { createHash } from "node:crypto";
import { access, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "./project-root.ts";

/** All that bundles and templates are made from. The last one names the packages that are installed. */
const sources = [
  "{functions,infra,shared}/**/*.*",
  "{cdk,package,tsconfig}.json",
  "node_modules/.package-lock.json",
];

const buildFolder = path.join(projectRoot, ".build");

/**
 * Builds a folder, unless it was built from the same sources before.
 * @param folder its name in `.build`
 * @param variant what it depends on besides the sources, such as a stage
 * @param build writes the folder; when it fails, the next call builds again
 */
export async function builtOnce(folder: string, variant: string, build: () => Promise<void>): Promise<void> {
  const stamp = path.join(buildFolder, "stamps", folder);
  const wanted = `${variant} ${process.version} ${await digestOfSources()}`;
  if ((await readText(stamp)) === wanted && (await exists(path.join(buildFolder, folder)))) return;
  // A build that is interrupted leaves no stamp.
  await rm(stamp, { force: true });
  await build();
  await mkdir(path.dirname(stamp), { recursive: true });
  await writeFile(stamp, wanted);
}

async function digestOfSources(): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(sources, { cwd: projectRoot, withFileTypes: true })) {
    if (file.isFile()) files.push(path.join(file.parentPath, file.name));
  }
  const hash = createHash("sha256");
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${path.relative(projectRoot, file)} ${content.length}\n`).update(content);
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
