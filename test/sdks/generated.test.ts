import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { generateSdk, generatedLanguages } from "../../infra/sdks/generate.ts";
import { firstCall, openAccount, runProgram, type Account } from "./account.ts";

type Language = (typeof generatedLanguages)[number];

const buildLimitMs = 600_000;

/** The usual folder of Go, which is not in every PATH. */
const env = { ...process.env, PATH: `${process.env["PATH"] ?? ""}${path.delimiter}/usr/local/go/bin` };
const run = async (command: string, options: readonly string[], cwd: string): Promise<unknown> =>
  promisify(execFile)(command, options, { cwd, env });

/** How a customer installs the SDK, and runs a program with it. The program's folder is a copy of `test/sdks/<language>`. */
const installations: Record<Language, (sdk: string, folder: string) => Promise<string[]>> = {
  go: async (sdk, folder) => {
    await run("go", ["mod", "edit", "-replace", `sms.example.com/sdks/go=${sdk}`], folder);
    await run("go", ["build", "-o", "program", "."], folder);
    return [path.join(folder, "program")];
  },
  java: async (sdk, folder) => {
    const goals = ["package", "dependency:copy-dependencies", "-DskipTests", "-Dmaven.javadoc.skip=true"];
    await run("mvn", ["--batch-mode", "--quiet", ...goals], sdk);
    const classes = `${sdk}/target/*${path.delimiter}${sdk}/target/dependency/*`;
    await run("javac", ["-cp", classes, "-d", ".", "Program.java"], folder);
    return ["java", "-cp", `${folder}${path.delimiter}${classes}`, "Program"];
  },
  php: async (sdk, folder) => {
    // Composer would get Guzzle from its registry. Debian has the same package, with another autoloader.
    const autoload = `<?php
      require '/usr/share/php/GuzzleHttp/autoload.php';
      spl_autoload_register(function (string $class) {
          if (!str_starts_with($class, 'SmsGateway\\\\')) return;
          require '${sdk}/lib/' . strtr(substr($class, strlen('SmsGateway\\\\')), '\\\\', '/') . '.php';
      });`;
    await writeFile(path.join(folder, "autoload.php"), autoload);
    return ["php", "-d", "display_errors=stderr", path.join(folder, "program.php")];
  },
};

const Sent = z.object({ id: z.string(), listed: z.array(z.string()) });

describe.each(generatedLanguages)("the SDK for %s", (language) => {
  let folder: string;
  let account: Account;
  let command: readonly string[];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), `sms-gateway-${language}-`));
    await cp(path.join(import.meta.dirname, language), folder, { recursive: true });
    command = await installations[language](await generateSdk(language), folder);
    account = await openAccount();
  }, buildLimitMs);
  afterAll(async () => {
    await account.receiver.stop();
    await rm(folder, { recursive: true });
  });

  const program = async (input: object): Promise<unknown> =>
    runProgram(command, input, { ...account.env, AUTOLOAD: path.join(folder, "autoload.php") });

  it("sends once for repeated requests, reads and lists, and has the code of an error", async () => {
    const result = await program({ command: "send" });
    const { id } = Sent.parse(result);
    expect(id).toMatch(/^msg_/);
    expect(result).toEqual({ id, repeated: id, text: "Hello", listed: [id], code: "VALIDATION_ERROR" });
  });

  it("verifies a webhook call and reads its event, and rejects a changed one", async () => {
    const { headers, ...call } = await firstCall(account);
    const input = {
      command: "verify",
      ...call,
      headers: { "x-service-signature": headers["x-service-signature"] },
    };
    expect(await program(input)).toEqual({ event: "message.sent", to: "15005550000" });
    expect(await program({ ...input, payload: `${call.payload} ` })).toEqual({ rejected: true });
  });
});
