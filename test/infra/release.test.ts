import { execFile } from "node:child_process";
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { projectRoot } from "../../infra/build/project-root.ts";
import { notesOf, releasedChangelog } from "../../infra/build/release/changelog.ts";
import { packNpmPackage } from "../../infra/build/sdks/npm.ts";
import examples from "../../shared/api/contract/examples.json" with { type: "json" };
import { apiVersion } from "../../shared/api/contract/version.ts";

const run = promisify(execFile);

describe("the version", () => {
  it("is the same in the package, its lock file and the interface", async () => {
    for (const file of ["package.json", "package-lock.json"]) {
      expect(JSON.parse(await readFile(path.join(projectRoot, file), "utf8"))).toMatchObject({
        version: apiVersion,
      });
    }
  });

  it("is the only one: the applications have none of their own, except the one that npm sbom requires", async () => {
    for await (const file of glob("{functions,infra}/**/package.json", { cwd: projectRoot })) {
      const manifest: unknown = JSON.parse(await readFile(path.join(projectRoot, file), "utf8"));
      expect(manifest, file).toHaveProperty("version", "0.0.0");
    }
  });

  it("is the same in the example of the health check", () => {
    expect(examples.operations.getHealth.version).toBe(apiVersion);
  });

  it("has notes in the changelog, with an upgrade section", async () => {
    const changelog = await readFile(path.join(projectRoot, "CHANGELOG.md"), "utf8");
    expect(notesOf(changelog, apiVersion)).toContain("### Upgrade\n");
  });
});

describe("the changelog", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.0.0 (2026-01-01)\n\n- Old.\n";

  it("gives the unreleased section the version and the date of a release", () => {
    const released = releasedChangelog(changelog, "1.1.0", "2026-02-03");
    expect(released).toContain("## Unreleased\n\n## 1.1.0 (2026-02-03)\n\n- New.\n");
    expect(notesOf(released, "1.1.0")).toBe("- New.\n");
    expect(notesOf(released, "1.0.0")).toBe("- Old.\n");
    expect(notesOf(changelog, "1.1.0-dev.0")).toBe("- New.\n");
  });

  it("is not released without entries, nor quoted for a version that it does not have", () => {
    const empty = changelog.replace("- New.\n\n", "");
    expect(() => releasedChangelog(empty, "1.1.0", "2026-02-03")).toThrow("nothing under Unreleased");
    expect(() => notesOf(changelog, "1.0")).toThrow("no notes for 1.0");
  });
});

describe("the npm package", () => {
  let folder: string;
  const installedFile = (name: string): string => path.join(folder, "node_modules/sms-gateway", name);
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-npm-"));
    const archive = await packNpmPackage(folder);
    await mkdir(installedFile("."), { recursive: true });
    await run("tar", ["-xzf", archive, "-C", installedFile("."), "--strip-components=1"]);
    await writeFile(path.join(folder, "package.json"), `{ "type": "module" }`);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  /** Compiles a program against the declarations of the package, which are checked too. */
  const compile = async (source: string): Promise<{ stdout: string }> => {
    await writeFile(path.join(folder, "program.ts"), source);
    const compiler = path.join(projectRoot, "node_modules/typescript/bin/tsc");
    const options = [
      "--strict",
      "--noEmit",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--lib",
      "es2022,dom",
    ];
    return run(process.execPath, [compiler, ...options, "--types", "", "program.ts"], { cwd: folder });
  };

  it.each([
    ["program.mjs", `import { createClient, RequestError } from "sms-gateway";`],
    ["program.cjs", `const { createClient, RequestError } = require("sms-gateway");`],
  ])("runs without the project in %s", async (file, begin) => {
    const source = `
      ${begin}
      const fetch = async (url, { headers }) => new Response(JSON.stringify({ data: { url, headers } }));
      const client = createClient({ baseUrl: "https://sms.example.com/v1/", fetch });
      client.getHealth().then((health) => console.log(JSON.stringify([health, RequestError.name])));`;
    await writeFile(path.join(folder, file), source);
    const { stdout } = await run(process.execPath, [file], { cwd: folder });
    const headers = { "User-Agent": `sms-gateway-typescript/${apiVersion}` };
    expect(JSON.parse(stdout)).toEqual([{ url: "https://sms.example.com/health", headers }, "RequestError"]);
  });

  it("has types for CommonJS", async () => {
    await writeFile(path.join(folder, "package.json"), `{ "type": "commonjs" }`);
    const compiled = compile(`
      import { createClient } from "sms-gateway";
      createClient({ baseUrl: "https://sms.example.com" }).getHealth({ timeoutMs: 5_000 }).then(({ status }) => status);`);
    await expect(compiled).resolves.toMatchObject({ stdout: "" });
    await writeFile(path.join(folder, "package.json"), `{ "type": "module" }`);
  });

  it("has no dependencies, imports no module, and has no operation that is not for customers", async () => {
    const manifest: unknown = JSON.parse(await readFile(installedFile("package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    const bundle = await readFile(installedFile("index.mjs"), "utf8");
    expect(bundle).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(|\bprocess\b|\bBuffer\b/m);
    expect(bundle).toContain("/v1/sms/send");
    expect(bundle).not.toMatch(/\/console|\/v1\/carriers|\/docs\b|payments\/events/);
    for await (const file of glob("**/*.d.ts", { cwd: installedFile(".") })) {
      expect(await readFile(installedFile(file), "utf8"), file).not.toContain("zod");
    }
  });

  it("has types for bodies, results, lists and events", async () => {
    const compiled = compile(`
      import { createClient, verifyWebhook, RequestError } from "sms-gateway";
      const client = createClient({ baseUrl: "https://sms.example.com" });
      export const status: Promise<"queued" | "held"> = client
        .sendSms({ body: { to: "15551234567", message: "Hello", scheduledAt: new Date() }, idempotencyKey: "order-1" })
        .then((message) => message.status);
      // @ts-expect-error: a message has a recipient
      export const rejected = client.sendSms({ body: { message: "Hello" } });
      for await (const { to } of client.listSms({ query: { status: "sent" } })) to.toUpperCase();
      export const total: number = (await client.listSms()).meta.total;
      const event = await verifyWebhook({ payload: "", headers: {}, secret: "" });
      if (event.event === "message.failed") event.data.errorCode satisfies string;
      export const isPoor = (error: unknown) => error instanceof RequestError && error.code === "INSUFFICIENT_BALANCE";
      // @ts-expect-error: there is no such code
      export const isRich = (error: unknown) => error instanceof RequestError && error.code === "RICH";`);
    await expect(compiled).resolves.toMatchObject({ stdout: "" });
  });

  it("has a README whose examples compile", async () => {
    const readme = await readFile(installedFile("README.md"), "utf8");
    const blocks = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
    expect(blocks.length).toBeGreaterThan(3);
    const code = blocks.join("\n").replaceAll(/^import .*$/gm, "");
    const compiled = compile(`
      import { createClient, RequestError, verifyWebhook } from "sms-gateway";
      declare const process: { env: Record<string, string | undefined> };
      declare const request: Request;
      ${code}`);
    await expect(compiled).resolves.toMatchObject({ stdout: "" });
  });
});
