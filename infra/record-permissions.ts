import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { operations } from "../shared/api/routes.ts";
import type { Route } from "../shared/api/routes/route.ts";
import { Access, linesOf, permissionsFile, readEntries } from "./access.ts";
import { projectRoot } from "./project-root.ts";

// `npm run permissions` runs tests on a gateway that records the access of its functions, and compares it with
// `permissions.txt`. `--update` writes what these tests use to the recorded part. It removes nothing there, because a run
// does not meet each race. The report names what is unused.

const { values: flags } = parseArgs({ options: { update: { type: "boolean", default: false } } });

const used = await recordTests();
const parts = (await readFile(permissionsFile, "utf8")).trim().split("\n\n");
const [fromRoutes = new Set<string>(), recorded = new Set<string>(), byHand = new Set<string>()] =
  parts.map(readEntries);
const all = fromRoutes.union(recorded).union(byHand).union(used);
const routes = new Map<string, Route>(operations());
const needed = new Set([...used].filter((entry) => !isImplied(entry)));
const missing = needed.difference(recorded);
report("The tests use, and the recorded part has not", missing);
report("The recorded part has, and the tests did not use", recorded.difference(used));
if (flags.update) {
  const entries = [fromRoutes, recorded.union(needed), byHand.difference(used)];
  const texts = entries.map((ofPart, index) => {
    const comments = parts[index]?.match(/^#.*$/gm) ?? [];
    return [...comments, ...linesOf([...ofPart].filter((entry) => !isImplied(entry)))].join("\n");
  });
  await writeFile(permissionsFile, `${texts.join("\n\n")}\n`);
} else if (missing.size > 0) process.exitCode = 1;

/** Runs the tests that need a gateway. @returns the entries of their records */
async function recordTests(): Promise<Set<string>> {
  const folder = await mkdtemp(path.join(tmpdir(), "permissions-"));
  const vitest = spawn("npx", ["vitest", "run", "--project=gateway", "--project=faults"], {
    cwd: projectRoot,
    env: { ...process.env, PERMISSION_RECORDS: folder },
    stdio: "inherit",
  });
  const [code] = await once(vitest, "exit");
  if (code !== 0) throw new Error("tests failed, so that the records are incomplete");
  const files = await readdir(folder);
  const texts = await Promise.all(files.map(async (file) => readFile(path.join(folder, file), "utf8")));
  await rm(folder, { recursive: true });
  return readEntries(texts.join(""));
}

/** Whether an entry follows from the route of its endpoint, or its families from those of the action itself. */
function isImplied(entry: string): boolean {
  const [name = ""] = entry.split(" ");
  const { names } = new Access(name, routes.get(name));
  const access = entry.slice(name.length);
  return (
    names.slice(1).some((each) => fromRoutes.has(`${each}${access}`)) ||
    (access.includes(" beside: ") && names.some((each) => all.has(`${each}${access.replace(" beside", "")}`)))
  );
}

function report(title: string, entries: ReadonlySet<string>): void {
  const lines = linesOf(entries).map((line) => `  ${line}\n`);
  if (lines.length > 0) process.stdout.write(`${title}:\n${lines.join("")}`);
}
