import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { Access, linesOf, permissionsFile, readEntries } from "@sms-gateway/stack/access.ts";

import { operations } from "../../../shared/api/routes.ts";
import type { Route } from "../../../shared/api/routes/route.ts";

/*
 * The part of `permissions.txt` that is recorded: a gateway with `PERMISSION_RECORDS` allows its functions all access, and
 * writes what they use to a folder.
 */

const parts = (await readFile(permissionsFile, "utf8")).trim().split("\n\n");
const [fromRoutes = new Set<string>(), recorded = new Set<string>(), byHand = new Set<string>()] =
  parts.map(readEntries);
const routes = new Map<string, Route>(operations());

/**
 * Returns what functions access while an action runs, in this process or in those that it starts. The gateway's own modules
 * have to be loaded within the action, because they read the environment.
 */
export async function recordAccess(action: () => Promise<void>): Promise<Set<string>> {
  const folder = await mkdtemp(path.join(tmpdir(), "permissions-"));
  try {
    process.env["PERMISSION_RECORDS"] = folder;
    await action();
    const files = await readdir(folder);
    const texts = await Promise.all(files.map(async (file) => readFile(path.join(folder, file), "utf8")));
    return readEntries(texts.join(""));
  } finally {
    delete process.env["PERMISSION_RECORDS"];
    await rm(folder, { recursive: true });
  }
}

/** Compares the used access with the file. `missing` is in no part, `unrecorded` at most in the one written by hand. */
export function comparePermissions(used: ReadonlySet<string>): {
  readonly missing: Set<string>;
  readonly unrecorded: Set<string>;
  readonly unused: Set<string>;
} {
  const all = fromRoutes.union(recorded).union(byHand).union(used);
  const unrecorded = new Set([...used].filter((entry) => !isImplied(entry, all))).difference(recorded);
  return { unrecorded, missing: unrecorded.difference(byHand), unused: recorded.difference(used) };
}

/** Adds access to the recorded part of the file, and takes it out of the part written by hand. */
export async function addPermissions(entries: ReadonlySet<string>): Promise<void> {
  const all = fromRoutes.union(recorded).union(byHand).union(entries);
  const texts = [fromRoutes, recorded.union(entries), byHand.difference(entries)].map((ofPart, index) => {
    const comments = parts[index]?.match(/^#.*$/gm) ?? [];
    return [...comments, ...linesOf([...ofPart].filter((entry) => !isImplied(entry, all)))].join("\n");
  });
  await writeFile(permissionsFile, `${texts.join("\n\n")}\n`);
}

/** Whether an entry follows from the route of its endpoint, or its families from those of the action itself. */
function isImplied(entry: string, all: ReadonlySet<string>): boolean {
  const [name = ""] = entry.split(" ");
  const { names } = new Access(name, routes.get(name));
  const access = entry.slice(name.length);
  return (
    names.slice(1).some((each) => fromRoutes.has(`${each}${access}`)) ||
    (access.includes(" beside: ") && names.some((each) => all.has(`${each}${access.replace(" beside", "")}`)))
  );
}
