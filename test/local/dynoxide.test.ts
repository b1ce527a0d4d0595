import { exec, execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";

import { findDynoxide } from "../../infra/local/dynoxide.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";

let folder: string;
let registry: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await closeRegistry();
  await rm(folder, { recursive: true });
});

/** A place that no package is installed at, and a cache of its own. */
function elsewhere(): { importer: string; cacheFolder: string } {
  return { importer: path.join(folder, "importer.js"), cacheFolder: path.join(folder, "cache") };
}

/**
 * Lets npm find one package, and no other, in a registry on this machine: the one that the program is from.
 * @returns what npm asked for
 */
async function startRegistry(): Promise<string[]> {
  const packageFolder = path.dirname(await findDynoxide(() => undefined));
  const manifest = z
    .looseObject({ name: z.string(), version: z.string() })
    .parse(JSON.parse(await readFile(path.join(packageFolder, "package.json"), "utf8")));
  const pack = promisify(exec)(`npm pack --silent "${packageFolder}"`, { cwd: folder });
  const tarball = await readFile(path.join(folder, (await pack).stdout.trim()));
  const asked: string[] = [];
  registry = createServer((request, response) => {
    const name = decodeURIComponent(request.url ?? "").slice(1);
    asked.push(name);
    if (name === "package.tgz") response.end(tarball);
    else if (name === manifest.name) response.end(JSON.stringify(packument));
    else response.writeHead(404).end();
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(registry)}`;
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: `${url}/package.tgz`, integrity };
  const packument = {
    name: manifest.name,
    "dist-tags": { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
  };
  useRegistry(url);
  return asked;
}

function useRegistry(url: string): void {
  vi.stubEnv("npm_config_registry", url);
  vi.stubEnv("npm_config_cache", path.join(folder, "npm-cache"));
  vi.stubEnv("npm_config_fetch_retries", "0");
}

async function closeRegistry(): Promise<void> {
  if (registry === undefined) return;
  registry.close();
  registry.closeAllConnections();
  await once(registry, "close");
  registry = undefined;
}

it.each([
  ["that runs this script", () => undefined],
  ["on the PATH, when no npm runs this script", () => vi.stubEnv("npm_execpath", undefined)],
])("where no package is installed, the npm %s fetches it once", async (_, arrange) => {
  const asked = await startRegistry();
  arrange();
  const said: string[] = [];
  const program = await findDynoxide((line) => said.push(line), elsewhere());
  expect(program.startsWith(path.join(folder, "cache"))).toBe(true);
  expect((await promisify(execFile)(program, ["--version"])).stdout).toMatch(/^dynoxide \d/);
  expect(said).toEqual([expect.stringMatching(/^Fetching the embedded DynamoDB for .+: @dynoxide\/.+ \d/)]);
  expect(asked).toContain("package.tgz");

  await closeRegistry();
  expect(await findDynoxide((line) => said.push(line), elsewhere())).toBe(program);
  expect(said).toHaveLength(1);
});

it("two that fetch it at once both find it, and leave one copy", async () => {
  await startRegistry();
  const places = elsewhere();
  const find = async (): Promise<string> => findDynoxide(() => undefined, places);
  const [one, other] = await Promise.all([find(), find()]);
  expect(one).toBe(other);
  expect(await readdir(path.join(folder, "cache"))).toHaveLength(1);
});

it("what npm cannot fetch leaves nothing behind, and the error names the way out", async () => {
  await startRegistry();
  await closeRegistry();
  await expect(findDynoxide(() => undefined, elsewhere())).rejects.toThrow("DYNAMODB_ENDPOINT=http");
  expect(await readdir(path.join(folder, "cache"))).toEqual([]);
});
