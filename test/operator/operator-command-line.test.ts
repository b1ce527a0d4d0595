import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { expect, it } from "vitest";
import * as z from "zod/mini";

import { commands } from "../../infra/operator/command-line.ts";
import { errorText } from "../../infra/operator/error-text.ts";
import { kebabCase } from "../../infra/stack/constructs/names.ts";
import { operator, operatorProcess, understand, unwrapped } from "../support/operator.ts";

/** A folder in which no gateway has run: these command lines need none. */
const noGateway = "nothing-here";

it("help lists every command, and each one explains its parameters, options and examples", async () => {
  const overview = await operatorProcess(noGateway, ["--help"]);
  expect(overview.code).toBe(0);
  for (const { name, summary } of commands) expect(unwrapped(overview.out)).toContain(` ${name} ${summary} `);

  for (const { name, parameters, options, asksFirst, examples } of commands) {
    const { out, order } = await understand(`${name} --help`);
    expect(order).toBeUndefined();
    const help = unwrapped(out);
    const usage = [name, ...parameters.map(({ title }) => title), "[options]"].join(" ");
    expect(help).toContain(`Usage: npm run operator -- ${usage} `);
    for (const each of [...parameters, ...options]) {
      expect(help).toContain(` ${each.title.replace(/^[[<](\w+).*/, "$1")} ${each.help} `);
    }
    for (const option of options)
      expect(option.title).toMatch(new RegExp(`^--${kebabCase(option.name)}( <\\w+>)?$`));
    expect(help.includes("--yes")).toBe(asksFirst !== undefined);
    for (const common of ["--stage <name>", "--json", "--help"]) expect(help).toContain(` ${common} `);
    for (const each of examples)
      expect(out).toContain(`\n  ${`npm run operator -- ${name} ${each}`.trimEnd()}\n`);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  }
  expect(await operator(["wallets", "credit", "--help"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("--reason <text>"),
    err: "",
  });
});

it("the help of a group lists its commands alone", async () => {
  const { code, out } = await operator(["wallets", "--help"]);
  expect(code).toBe(0);
  const named = commands.filter(({ name }) => out.includes(`\n  ${name} `)).map(({ name }) => name);
  expect(named).toEqual([
    "wallets credit",
    "wallets debit",
    "wallets close",
    "wallets reopen",
    "wallets set-daily-cap",
    "wallets set-rate-limit",
    "wallets list-entries",
    "wallets verify",
  ]);
});

it.each([
  ["wallets verify --nonsense", "unknown option '--nonsense'"],
  ["wallets verify --yes", "unknown option '--yes'"],
  ["wallets credit ada@example.com", "<amount> must be a number above 0 with at most 6 decimals"],
  ["wallets credit ada@example.com 0.0000001 --reason x", "<amount> must be a number above 0"],
  ["wallets credit ada@example.com 1e3 --reason x", "<amount> must be a number above 0"],
  ["wallets credit ada@example.com 9999999999.5 --reason x", "<amount> must be a number above 0"],
  ["wallets credit ada@example.com 0.000 --reason x", "<amount> must be a number above 0"],
  ["wallets debit ada@example.com -5 --reason x", "<amount> must be a number above 0"],
  ["wallets debit ada@example.com 5", "--reason is missing"],
  ["wallets credit ada@example.com 5 --reason x --type payment", "--reference is missing"],
  ["wallets debit ada@example.com 5 --reason x --type chargeback", "--reference is missing"],
  [
    "wallets credit ada@example.com 5 --reason x --type chargeback --reference pi_1",
    "--type must be one of credit, payment, correction",
  ],
  ["wallets debit ada@example.com 5 --reason", "option '--reason <text>' argument missing"],
  ["wallets debit ada@example.com 5 --reason --yes", "The value is missing"],
  ["wallets debit ada@example.com 5 --reason --stage=prod", "The value is missing"],
  [
    "wallets credit ada@example.com 5 --reason x --payment pay_01M7Y6EJCCCYF8FQN69JCEXBCE",
    "--payment requires --type payment",
  ],
  ["prices set-override ada@example.com 44 0.0000001", "<price> must be a number up to 1000"],
  ["invoices advance 41 --reason x", "<number> must be like INV-2026-000042"],
  ["wallets list-entries", "<organization> is missing"],
  ["opt-outs remove", "<number> is missing"],
  ["recipients erase", "<number> is missing"],
  ["suppressions show", "<address> must be an email address"],
  ["carriers test acme --text hi", "--to is missing"],
  ["carriers test acme --to 0044", "--to "],
  ["carriers set Acme --settings x", "<name> must be 1 to 32 lower-case letters"],
  ["carriers set acme", "--settings is missing"],
  ["carriers set acme --settings x --throughput fast", "--throughput must be a number of segments"],
  ["carriers set acme --settings x --throughput 0", "--throughput must be a number of segments"],
  ["routes set +44 --carriers acme", "<prefix> must be the first digits of the numbers, or default"],
  ["routes set 44", "--carriers is missing"],
  ["routes set 44 --carriers acme,acme", "--carriers must not contain a name twice"],
  ["routes set 44 --carriers acme,", "--carriers must be 1 to 32 lower-case letters"],
  ["routes set 44 --carriers acme --type sale", "--type "],
  ["numbers assign 12 ada@example.com", "<number> must be 3 to 15 digits"],
  ["messages list", "--organization is missing"],
  [
    "messages list --organization ada@example.com --since May",
    "--since must be days such as 7d, a day such as 2026-03-01",
  ],
  ["wallets list-entries ada@example.com --limit 0", "--limit must be a number from 1 to 1000"],
  ["wallets reopen ada@example.com now", "Expected 1 argument but got 2: ada@example.com, now"],
  ["wallets set-daily-cap ada@example.com", "<amount> must be a number above 0 with at most 6 decimals"],
  ["wallets set-daily-cap ada@example.com 0", "<amount> must be a number above 0"],
  ["wallets set-daily-cap ada@example.com all", "<amount> must be a number above 0"],
  ["wallets set-rate-limit ada@example.com 0", "<messages> must be a number from 1 to 10000"],
  ["kyc list now", "Expected 0 arguments but got 1: now"],
  ["dead-letters redrive sends", "<queue> must be one of "],
  ["wallets verify --stage production", "there is no stage production"],
  ["wallets verify --stage local", "Omit --stage"],
  ["wallets verify --stage --json", "there is no stage --json"],
  ["wallets close ada@example.com --reason x --stage prod", "add --yes"],
  ["payments connect --credentials stripe.json --stage prod", "add --yes"],
])("%s is rejected before any gateway is called", async (line, reason) => {
  const { order, out, err } = await understand(line);
  expect(order).toBeUndefined();
  expect(out).toBe("");
  expect(err).toContain(reason);
});

it.each([
  ["wallets close ada@example.com --reason x --stage prod", true, { mustAsk: true, isJson: false }],
  ["wallets close --stage prod ada@example.com --yes --reason=x", false, { mustAsk: false, isJson: false }],
  ["wallets close ada@example.com --reason x --stage dev", false, { mustAsk: false, isJson: false }],
  ["wallets close ada@example.com --reason x --json", false, { mustAsk: false, isJson: true }],
  ["wallets list-entries ada@example.com --stage prod", false, { mustAsk: false, isJson: false }],
  ["payments connect --stage prod", false, { mustAsk: false, isJson: false }],
])("%s, at a terminal: %s, is parsed as %j", async (line, canAsk, understood) => {
  const { order, out, err } = await understand(line, canAsk);
  expect(order).toMatchObject({ ...understood, run: expect.any(Function) });
  expect(order?.stage?.name).toBe(/--stage (\w+)/.exec(line)?.[1]);
  expect(out + err).toBe("");
});

it("a typing error ends with 2 and one line with the reason", async () => {
  expect(await operatorProcess(noGateway, ["wallets", "reopen"])).toEqual({
    code: 2,
    out: "",
    err: "<organization> is missing\n",
  });
});

it.each([
  [["walets", "credit"], "Unknown command 'walets credit'. Did you mean wallets credit"],
  [
    ["wallets", "credits", "ada@example.com", "5"],
    "Unknown command 'wallets credits'. Did you mean wallets credit",
  ],
  [["marjins"], "Unknown command 'marjins'. Did you mean margins?"],
  [["xylophone", "tune"], "Unknown command 'xylophone tune'. Use --help to list all commands."],
])("the unknown command %j ends with 2 and one line with the nearest ones", async (args, line) => {
  const unknown = await operator(args);
  expect(unknown).toMatchObject({ code: 2, out: "" });
  expect(unknown.err.startsWith(line), unknown.err).toBe(true);
  expect(unknown.err).toMatch(/^.* Use --help to list all commands\.\n$/);
});

it("an incomplete command ends with 2 and the help of its group", async () => {
  const group = await operator(["wallets"]);
  expect(group).toMatchObject({ code: 2, out: "" });
  expect(group.err).toContain("wallets reopen");
  expect(group.err).not.toContain("dead-letters");
  expect(await operator([])).toMatchObject({ code: 2, out: "" });
});

it.each([
  [
    "fetch failed",
    new Error("fetch failed", { cause: connectionRefused() }),
    "fetch failed: connect ECONNREFUSED 127.0.0.1:9. Is the gateway running?",
  ],
  [
    "one of several addresses",
    new AggregateError([connectionRefused()], ""),
    "connect ECONNREFUSED 127.0.0.1:9",
  ],
  [
    "no credentials",
    Object.assign(new Error("Could not load credentials from any providers"), {
      name: "CredentialsProviderError",
    }),
    "Could not load credentials from any providers. Set AWS_PROFILE, or ",
  ],
  [
    "no region",
    new Error("Region is missing"),
    "Region is missing. Set AWS_REGION, or `region` in the stage's file.",
  ],
  [
    "several causes",
    new Error("fetch failed", { cause: new AggregateError([connectionRefused(), connectionRefused()], "") }),
    "fetch failed: connect",
  ],
])("an error shows its cause: %s", (_, error, text) => {
  expect(errorText(error).startsWith(text), errorText(error)).toBe(true);
});

function connectionRefused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
}

it("commands start without the packages that only deployments and the local gateway need", async () => {
  const files = ["command-line.ts", "context.ts"].map((name) =>
    pathToFileURL(path.join("infra/operator", name)),
  );
  const script =
    `for (const file of ${JSON.stringify(files)}) await import(file);` +
    'const { createRequire } = await import("node:module");' +
    'console.log(Object.keys(createRequire("/").cache).join("\\n"))';
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  expect(stdout).toContain("/node_modules/@aws-sdk/util-dynamodb/");
  expect(stdout).not.toMatch(/\/node_modules\/(aws-cdk-lib|constructs|esbuild)\//);
});

it("--version shows the version and the commit of the checkout", async () => {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile("package.json", "utf8")));
  const { stdout: commit } = await promisify(execFile)("git", ["rev-parse", "HEAD"]);
  const { code, out, err } = await operatorProcess(noGateway, ["--version"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.replace("-dirty\n", "\n")).toBe(`${version}+${commit.slice(0, 12)}\n`);
});

it("without a gateway it explains in one line how to start one", async () => {
  const { code, err } = await operatorProcess(noGateway, ["wallets", "verify"]);
  expect(code).toBe(1);
  expect(err).toMatch(/^No gateway has run here \(.*connections\.json is missing\): npm start\n$/);
});
