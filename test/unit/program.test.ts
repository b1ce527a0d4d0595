import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

import { expect, it } from "vitest";
import * as z from "zod/mini";

const run = promisify(execFile);
const Package = z.object({ scripts: z.record(z.string(), z.string()) });
const Lock = z.object({ packages: z.record(z.string(), z.object({ libc: z.optional(z.unknown()) })) });

it("every program that people start is prepared", async () => {
  const { scripts } = Package.parse(JSON.parse(await readFile("package.json", "utf8")));
  for (const name of ["start", "dev", "demo", "receiver", "deploy", "operator", "smoke"]) {
    expect(scripts[name], name).toContain("node --require ./infra/program.cjs ");
  }
  expect(await readFile("cdk.json", "utf8")).toContain(
    '"node --require ./infra/program.cjs infra/stack/app.ts"',
  );
});

it("a variable without a value is not set", async () => {
  const env = { PATH: process.env["PATH"], DATA_DIR: "", PORT: " ", STAGE: "0" };
  const print = "console.log(['DATA_DIR', 'PORT', 'STAGE'].map((name) => process.env[name]))";
  const { stdout } = await run(process.execPath, ["--require", "./infra/program.cjs", "-e", print], { env });
  expect(stdout).toBe("[ undefined, undefined, '0' ]\n");
});

it("a Node that cannot read the programs gets a sentence", async () => {
  const command = ["--no-strip-types", "--require", "./infra/program.cjs", "infra/local/start.ts"];
  await expect(run(process.execPath, command)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The SMS gateway needs Node 22\.18 or newer, and this is Node \d+\.\d+/),
  });
});

it("Alpine, whose C library is another one, gets no Node from the packages", async () => {
  const { packages } = Lock.parse(JSON.parse(await readFile("package-lock.json", "utf8")));
  // The packages do not state it themselves. npm keeps what the lock file states.
  for (const cpu of ["arm64", "x64"]) expect(packages[`node_modules/node-linux-${cpu}`]?.libc).toBe("glibc");
});
