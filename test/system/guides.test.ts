import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { glob, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { Customer } from "../support/api.ts";
import {
  installedLanguages,
  installPackages,
  type InstalledPackages,
  type SampleLanguage,
} from "../support/installed-packages.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * The code of the guides runs as it is printed, in TypeScript and Python; at night in each language whose program is installed.
 */

const run = promisify(execFile);

/** The file of the code, the commands that run it, and a caller of the function that verifies webhooks. */
interface Language {
  readonly name: SampleLanguage;
  readonly file: string;
  readonly commands: readonly (readonly string[])[];
  readonly verify: readonly [file: string, code: string];
  readonly verifyCommands: readonly (readonly string[])[];
}

const languages: readonly Language[] = [
  {
    name: "typescript",
    file: "send.mts",
    commands: [[process.execPath, "send.mts"]],
    verify: [
      "main.mts",
      'import { isFromGateway } from "./send.mts";\nconst [, , secret = "", signature = "", body = ""] = process.argv;\nconsole.log(isFromGateway(secret, signature === "missing" ? undefined : signature, body));\n',
    ],
    verifyCommands: [[process.execPath, "main.mts"]],
  },
  {
    name: "python",
    file: "sample.py",
    commands: [["python3", "sample.py"]],
    verify: [
      "main.py",
      "import sys\nfrom sample import is_from_gateway\nsignature = None if sys.argv[2] == 'missing' else sys.argv[2]\nprint(str(is_from_gateway(sys.argv[1], signature, sys.argv[3].encode())).lower())\n",
    ],
    verifyCommands: [["python3", "main.py"]],
  },
  {
    name: "php",
    file: "sample.php",
    commands: [["php", "sample.php"]],
    verify: [
      "main.php",
      "<?php require 'sample.php'; echo var_export(is_from_gateway($argv[1], $argv[2] === 'missing' ? null : $argv[2], $argv[3]));",
    ],
    verifyCommands: [["php", "main.php"]],
  },
  {
    name: "go",
    file: "gateway/sample.go",
    commands: [["go", "run", "./gateway"]],
    verify: [
      "main.go",
      'package main\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"guide/gateway"\n)\n\nfunc main() {\n\tfmt.Println(gateway.IsFromGateway(os.Args[1], os.Args[2], []byte(os.Args[3])))\n}\n',
    ],
    verifyCommands: [["go", "run", "."]],
  },
  {
    name: "java",
    file: "Sample.java",
    commands: [["java", "Sample.java"]],
    verify: [
      "Main.java",
      'public class Main {\n    public static void main(String[] args) throws Exception {\n        System.out.println(Webhooks.isFromGateway(args[0], args[1].equals("missing") ? null : args[1], args[2].getBytes("UTF-8")));\n    }\n}\n',
    ],
    verifyCommands: [
      ["javac", "Webhooks.java", "Main.java"],
      ["java", "Main"],
    ],
  },
  {
    name: "ruby",
    file: "sample.rb",
    commands: [["ruby", "sample.rb"]],
    verify: [
      "main.rb",
      'require_relative "sample"\nsecret, signature, body = ARGV\nputs from_gateway?(secret, signature == "missing" ? nil : signature, body)\n',
    ],
    verifyCommands: [["ruby", "main.rb"]],
  },
];

let folder = "";
let packages: InstalledPackages;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "guides-"));
  packages = await installPackages(inject("baseUrl"), folder);
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

/** Writes the first block of a language in a guide, and returns its folder. */
async function codeOf(guide: string, { name, file }: Language): Promise<string> {
  const markdown = await readFile(`shared/pages/docs/guides/${guide}.md`, "utf8");
  const [, code = ""] = new RegExp(`^\`\`\`${name}\n(.*?)^\`\`\``, "ms").exec(markdown) ?? [];
  expect(code).not.toBe("");
  // Node looks for packages in the folders above a program.
  const target = await mkdtemp(path.join(name === "typescript" ? packages.nodeFolder : folder, `${name}-`));
  await run("mkdir", ["-p", path.dirname(path.join(target, file))]);
  const javaFile = guide === "webhooks" && name === "java" ? "Webhooks.java" : file;
  await writeFile(path.join(target, javaFile), code);
  await writeFile(path.join(target, "go.mod"), "module guide\n\ngo 1.21\n");
  return target;
}

async function output(
  cwd: string,
  commands: readonly (readonly string[])[],
  last: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  let printed = "";
  for (const [index, [program = "", ...options]] of commands.entries()) {
    const added = index === commands.length - 1 ? last : [];
    const command = program === "python3" ? (packages.python ?? program) : program;
    printed = (await run(command, [...options, ...added], { cwd, env: { ...process.env, ...env } })).stdout;
  }
  return printed.trim();
}

it("each message and verification that a guide sends with curl is accepted from a new account", async () => {
  const tester = await (await Customer.register()).withApiKey({ test: true });
  const curl = /(?<path>\/v1\/(?:sms\/send|verifications(?:\/check)?))" (?:.*\\\n)+ +-d '(?<raw>.+)'/g;
  for await (const file of glob("shared/pages/docs/guides/*.md")) {
    for (const { groups } of (await readFile(file, "utf8")).matchAll(curl)) {
      const { path: called = "", raw = "" } = groups ?? {};
      const sent = await tester.call(called, { raw });
      expect([file, sent.status, sent.text]).toEqual([
        file,
        called.endsWith("/check") ? 200 : 202,
        sent.text,
      ]);
    }
  }
});

const installed = installedLanguages(
  languages.map(({ name }) => name).filter((name) => isNightly || name === "typescript" || name === "python"),
);

describe.each(languages.filter(({ name }) => installed.includes(name)))("$name", (language) => {
  it("sends a test message with the code of the quickstart, from an account without money", async () => {
    const customer = await Customer.register();
    const { secret } = await customer.client.createApiKey({ body: { test: true } });
    const env = { SMS_GATEWAY_URL: inject("baseUrl"), SMS_GATEWAY_KEY: secret };
    const printed = await output(await codeOf("quickstart", language), language.commands, [], env);
    expect(printed).toMatch(/^msg_\w+T queued$|"id":"msg_\w+T","status":"queued"/);
  });

  it.runIf(["python", "typescript"].includes(language.name))(
    "starts and checks a verification with the code of the guide",
    async () => {
      const { secret } = await (await Customer.register()).client.createApiKey({ body: { test: true } });
      const env = { SMS_GATEWAY_URL: inject("baseUrl"), SMS_GATEWAY_KEY: secret };
      const printed = await output(await codeOf("one-time-codes", language), language.commands, [], env);
      expect(printed).toMatch(/^ver_\w+T false$/);
    },
  );

  it("verifies a webhook with the code of the guide", async () => {
    const target = await codeOf("webhooks", language);
    const [file, code] = language.verify;
    await writeFile(path.join(target, file), code);
    const [secret, body] = ["whsec_c2VjcmV0", '{"event":"message.sent","text":"Grüße"}'];
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const verify = async (...given: string[]): Promise<string> =>
      output(target, language.verifyCommands, given);
    expect(await verify(secret, signature, body)).toBe("true");
    expect(await verify(secret, signature, `${body} `)).toBe("false");
    expect(await verify("whsec_another", signature, body)).toBe("false");
    for (const wrong of ["none", "missing", "", `${signature}zz`, "\u0660".repeat(64), "9".repeat(400)])
      expect(await verify(secret, wrong, body)).toBe("false");
  });
});
