import { execFile } from "node:child_process";
import { access, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import * as z from "zod/mini";

import { projectRoot } from "../../infra/build/project-root.ts";
import type * as synthesize from "../../infra/local/synthesize.ts";
import * as presentCarrierPath from "../model/carrier-path.ts";
import type { CarrierPath } from "../model/carriers.ts";
import * as present from "../model/money-path.ts";
import type { MoneyPath } from "../model/simulation.ts";
import { commitId, extractCommit, newestTag } from "../support/commits.ts";

const LastRelease = z.object({
  version: z.string(),
  commit: z.string(),
  /** Where the release has files that are in another folder today. */
  formerFolders: z.record(z.string(), z.string()),
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({ resolved: z.optional(z.string()), link: z.optional(z.boolean()) }),
  ),
});

/**
 * Checks out the last release into `.build/releases`, with its packages. A later run uses the same checkout.
 * `last-release.json` names the release by a commit or tag, and `LAST_RELEASE` another one.
 * @returns the folder
 * @throws Error where the history does not contain the release, or a newer one
 */
export async function checkOutLastRelease(): Promise<string> {
  const id = await lastRelease();
  const folder = path.join(projectRoot, ".build/releases", id);
  const isComplete = async (): Promise<boolean> =>
    access(path.join(folder, ".complete")).then(
      () => true,
      () => false,
    );
  if (await isComplete()) return folder;
  // Two suites may do this at the same time. Each completes its own folder, and the first one is used.
  const own = `${folder}-${process.pid}`;
  await extractCommit(id, own);
  if ((await packagesOf(own)) === (await packagesOf(projectRoot))) {
    await linkPackages(own);
  } else {
    await promisify(execFile)("npm", ["ci"], { cwd: own });
  }
  await writeFile(path.join(own, ".complete"), "");
  await rename(own, folder).catch(async (error: unknown) => {
    if (!(await isComplete())) throw error;
    await rm(own, { recursive: true });
  });
  return folder;
}

/** Builds the bundles and the local template of a release, unless they are there. */
export async function assemblyOf(folder: string): ReturnType<typeof synthesize.synthesizeLocalStack> {
  const file = path.join(folder, "infra/local/synthesize.ts");
  const { synthesizeLocalStack }: typeof synthesize = await import(pathToFileURL(file).href);
  return synthesizeLocalStack();
}

/** Returns the commit of the last release. */
async function lastRelease(): Promise<string> {
  const chosen = process.env["LAST_RELEASE"];
  if (chosen !== undefined) return commitId(chosen);
  const { version, commit } = await namedRelease();
  const id = await commitId(commit);
  const tag = await newestTag();
  if (tag === undefined || (await commitId(tag)) === id) return id;
  throw new Error(`The last release is ${tag}, but test/mixed-versions/last-release.json names ${version}.`);
}

async function namedRelease(): Promise<z.infer<typeof LastRelease>> {
  const content = await readFile(new URL("last-release.json", import.meta.url), "utf8");
  return LastRelease.parse(JSON.parse(content));
}

/** Functions of the model's money path that the last release does not have. The present ones run in their place. */
const added: ReadonlySet<string> = new Set(["forgetDebits", "pauseCampaign", "resumeCampaign"]);

/**
 * Returns the money path of the last release and the present one.
 * @throws Error when the last release does not have all functions
 */
export async function bothMoneyPaths(): Promise<[MoneyPath, MoneyPath]> {
  const file = path.join(await checkOutLastRelease(), "test/model/money-path.ts");
  const last: MoneyPath = await import(pathToFileURL(file).href);
  const missing = Object.keys(present).filter((name) => !(name in last) && !added.has(name));
  if (missing.length > 0) throw new Error(`The money path of the last release has no ${missing.join(", ")}.`);
  return [{ ...present, ...last }, present];
}

/** Returns the carrier path of the last release and the present one. A release without the file gets a copy of the present one. */
export async function bothCarrierPaths(): Promise<CarrierPath[]> {
  const folder = path.join(await checkOutLastRelease(), "test/model");
  const copy = path.join(folder, "copied-carrier-path.ts");
  let source = await readFile(path.join(projectRoot, "test/model/carrier-path.ts"), "utf8");
  for (const [today, former] of Object.entries((await namedRelease()).formerFolders))
    source = source.replaceAll(today, former);
  await writeFile(copy, source);
  const own = path.join(folder, "carrier-path.ts");
  const file = await access(own).then(
    () => own,
    () => copy,
  );
  const last: typeof presentCarrierPath = await import(pathToFileURL(file).href);
  const [{ connect }] = await bothMoneyPaths();
  return [
    { ...last, connect },
    { ...presentCarrierPath, connect: present.connect },
  ];
}

/** Links the packages of the project into a release that has the same ones, beside its own workspaces. */
async function linkPackages(folder: string): Promise<void> {
  const packages = path.join(folder, "node_modules");
  await mkdir(path.join(packages, "@sms-gateway"), { recursive: true });
  for (const name of await readdir(path.join(projectRoot, "node_modules"))) {
    if (name === "@sms-gateway") continue;
    await symlink(path.join(projectRoot, "node_modules", name), path.join(packages, name));
  }
  for (const [name, { link, resolved = "" }] of Object.entries(await readLock(folder)))
    if (link === true) await symlink(path.relative(path.dirname(name), resolved), path.join(folder, name));
}

/** The packages of a release, without its workspaces. */
async function packagesOf(folder: string): Promise<string> {
  const packages = Object.entries(await readLock(folder));
  // Whether only tests need a package makes no difference.
  return JSON.stringify(
    packages
      .filter(([name, { link }]) => name.startsWith("node_modules/") && link !== true)
      .map(([name, facts]) => [name, { ...facts, dev: undefined }]),
  );
}

async function readLock(folder: string): Promise<z.infer<typeof Lock>["packages"]> {
  return Lock.parse(JSON.parse(await readFile(path.join(folder, "package-lock.json"), "utf8"))).packages;
}
