import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, it } from "vitest";

import { newWebhookSecret, serviceSignature } from "../../shared/webhooks/signature.ts";

// The code that the README gives to receivers, run unchanged by the runtimes of this machine. Each program gets the secret,
// signature and body of successive calls as arguments. It prints a letter for each: whether the signature is right.

interface Runtime {
  readonly language: string;
  readonly command: string;
  readonly versionArguments: readonly string[];
  readonly runArguments: readonly string[];
  readonly file: string;
  readonly program: (code: string) => string;
}

const runtimes: readonly Runtime[] = [
  {
    language: "ts",
    command: process.execPath,
    versionArguments: ["--version"],
    runArguments: [],
    file: "receiver.mts",
    program: (code) => `${code}
for (let i = 2; i < process.argv.length; i += 3) {
  process.stdout.write(isFromGateway(process.argv[i], process.argv[i + 1], process.argv[i + 2]) ? "y" : "n");
}`,
  },
  {
    language: "python",
    command: "python3",
    versionArguments: ["--version"],
    runArguments: [],
    file: "receiver.py",
    program: (code) => `${code}
import sys
for i in range(1, len(sys.argv), 3):
    print("y" if is_from_gateway(sys.argv[i], sys.argv[i + 1], sys.argv[i + 2].encode()) else "n", end="")`,
  },
  {
    language: "php",
    command: "php",
    versionArguments: ["--version"],
    runArguments: [],
    file: "receiver.php",
    program: (code) => `<?php
${code}
for ($i = 1; $i < $argc; $i += 3) {
    echo is_from_gateway($argv[$i], $argv[$i + 1], $argv[$i + 2]) ? 'y' : 'n';
}`,
  },
  {
    language: "go",
    command: "go",
    versionArguments: ["version"],
    runArguments: ["run"],
    file: "receiver.go",
    program: (code) => `package main

import "os"

${code}
func main() {
	for i := 1; i < len(os.Args); i += 3 {
		verdict := "n"
		if isFromGateway(os.Args[i], os.Args[i+1], []byte(os.Args[i+2])) {
			verdict = "y"
		}
		os.Stdout.WriteString(verdict)
	}
}`,
  },
];

const present = runtimes.filter(
  ({ command, versionArguments }) => spawnSync(command, versionArguments).status === 0,
);

const run = promisify(execFile);
let folder: string;
let readme: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "webhook-receivers-"));
  readme = await readFile(new URL("../../shared/webhooks/README.md", import.meta.url), "utf8");
});
afterAll(async () => rm(folder, { recursive: true }));

function codeOf(language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms").exec(readme) ?? [];
  if (code === undefined) throw new Error(`the README has no code in ${language}`);
  return code;
}

it("the README has code for four languages, and this machine can run at least one", () => {
  expect(runtimes.map(({ language }) => codeOf(language))).toHaveLength(4);
  expect(present.map(({ language }) => language)).toContain("ts");
});

it.each(present)(
  "the README's code in $language accepts our signature and no other",
  async ({ language, command, runArguments, file, program }) => {
    await writeFile(path.join(folder, file), program(codeOf(language)));
    const secret = newWebhookSecret();
    const body = '{"event":"message.sent","data":{"id":"msg_1","to":"447700900123","note":"é€😀"}}';
    const signature = serviceSignature(secret, body);
    const calls = [
      [secret, signature, body],
      [secret, signature, body.replace("447700900123", "447700900124")],
      [newWebhookSecret(), signature, body],
      [secret, "nonsense", body],
      [secret, "", body],
    ];
    const { stdout } = await run(command, [...runArguments, path.join(folder, file), ...calls.flat()]);
    expect(stdout).toBe("ynnnn");
  },
  120_000,
);
