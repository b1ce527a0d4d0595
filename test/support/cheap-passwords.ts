import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import type { localAssembly } from "../../infra/local/synthesize.ts";
import { changedAssembly } from "./changed-assembly.ts";

/** The end of `hashPassword` in a bundle: the call of bcrypt, with the cost as its last argument. */
const hashing = /(?<=must be at most 72 bytes long in UTF-8"\);return [\w$]+\([\w$]+,)[\w$]+(?=\))/;

/** The least cost that bcrypt accepts. */
const leastCost = "4";

/**
 * A copy of a synthesized stack whose functions hash new passwords at the least cost. Each hash takes 1 ms instead of 60, and so
 * does each log-in. Units test the cost of `hash.ts`.
 * @returns it as `startLocalGateway` takes it; the folder is the caller's to remove
 * @throws Error when no function hashes passwords as expected
 */
export async function withCheapPasswords(assembly: typeof localAssembly): Promise<typeof localAssembly> {
  const copy = await changedAssembly(assembly, () => undefined);
  let changed = 0;
  for (const name of await readdir(assembly.assemblyFolder)) {
    const bundle = path.join(assembly.assemblyFolder, name);
    const source = await readFile(path.join(bundle, "index.mjs"), "utf8").catch(() => "");
    const cheap = source.replace(hashing, leastCost);
    if (cheap === source) continue;
    const target = path.join(copy.assemblyFolder, name);
    await rm(target);
    await cp(bundle, target, { recursive: true });
    await writeFile(path.join(target, "index.mjs"), cheap);
    changed += 1;
  }
  if (changed === 0) throw new Error("no function calls bcrypt as hash.ts does");
  return copy;
}
