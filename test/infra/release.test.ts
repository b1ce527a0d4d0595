import { execFile } from "node:child_process";
import { glob, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { projectRoot } from "../../infra/project-root.ts";
import { packClient } from "../../infra/release/artifacts.ts";
import { notesOf, releasedChangelog } from "../../infra/release/changelog.ts";
import examples from "../../shared/contract/examples.json" with { type: "json" };
import { apiVersion } from "../../shared/contract/version.ts";

const run = promisify(execFile);

describe("the version", () => {
  it("is the same in the package, its lock file and the interface", async () => {
    for (const file of ["package.json", "package-lock.json"]) {
      expect(JSON.parse(await readFile(path.join(projectRoot, file), "utf8"))).toMatchObject({
        version: apiVersion,
      });
    }
  });

  it("is the only one: the applications have none of their own", async () => {
    for await (const file of glob("{functions,infra}/**/package.json", { cwd: projectRoot })) {
      const manifest: unknown = JSON.parse(await readFile(path.join(projectRoot, file), "utf8"));
      expect(manifest, file).not.toHaveProperty("version");
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
  });

  it("is not released without entries, nor quoted for a version that it does not have", () => {
    const empty = changelog.replace("- New.\n\n", "");
    expect(() => releasedChangelog(empty, "1.1.0", "2026-02-03")).toThrow("nothing under Unreleased");
    expect(() => notesOf(changelog, "1.0")).toThrow("no notes for 1.0");
  });
});

describe("the client's package", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-client-"));
    const installed = path.join(folder, "node_modules/@sms-gateway/client");
    await mkdir(installed, { recursive: true });
    const archive = await packClient(folder);
    await run("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
    await symlink(path.join(projectRoot, "node_modules/zod"), path.join(folder, "node_modules/zod"));
    await writeFile(path.join(folder, "package.json"), `{ "type": "module" }`);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it("runs in Node without the project", async () => {
    const source = `
      import { createClient, RequestError } from "@sms-gateway/client";
      const fetch = async (url, { method }) => new Response(JSON.stringify({ data: { url, method } }));
      const client = createClient({ baseUrl: "https://sms.example.com", fetch });
      console.log(JSON.stringify([await client.getHealth(), RequestError.name]));`;
    await writeFile(path.join(folder, "program.js"), source);
    const { stdout } = await run(process.execPath, ["program.js"], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([
      { url: "https://sms.example.com/health", method: "GET" },
      "RequestError",
    ]);
  });

  it("has types that reject a body which the API would reject", async () => {
    const source = `
      import { createClient } from "@sms-gateway/client";
      const client = createClient({ baseUrl: "https://sms.example.com" });
      export const status: Promise<"queued"> = client
        .sendSms({ body: { to: "+15551234567", message: "Hello" } })
        .then((message) => message.status as "queued");
      // @ts-expect-error: a message has a recipient
      export const rejected = client.sendSms({ body: { message: "Hello" } });`;
    await writeFile(path.join(folder, "program.ts"), source);
    const compiler = path.join(projectRoot, "node_modules/typescript/bin/tsc");
    const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2025", "--types", ""];
    const compiled = run(process.execPath, [compiler, ...options, "program.ts"], { cwd: folder });
    await expect(compiled).resolves.toMatchObject({ stdout: "" });
  });
});
