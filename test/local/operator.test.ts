import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { CommanderError } from "commander";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { kebabCase } from "../../infra/constructs/names.ts";
import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { commandLine, commands, type Order } from "../../infra/operator/command-line.ts";
import { agrees, type Context } from "../../infra/operator/context.ts";
import { errorText } from "../../infra/operator/error-text.ts";
import { Output } from "../../infra/operator/output.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { KycSubmission } from "../../shared/contract/kyc.ts";
import { AcceptedInvitation } from "../../shared/contract/members.ts";
import { Message } from "../../shared/contract/sms.ts";
import { MessageRecord } from "../../shared/messages/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, queryItems } from "../../shared/platform/table/read.ts";
import { messageKey, reshard } from "../../shared/platform/table/shards.ts";
import { deleteItem, putItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { verifyWallet } from "../../shared/reconciliation/verify.ts";
import { LedgerEntryRecord } from "../../shared/wallet/ledger.ts";
import { graceMs } from "../../shared/wallet/settlement.ts";
import { call, Customer, dataOf, errorOf, pageOf, password } from "../support/api.ts";
import { identity, startAwsAccount } from "../support/aws-account.ts";
import { tokenIn, waitForEmail } from "../support/emails.ts";
import { Faults, isBy, loseRequest } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { captured, operator, type Ended } from "../support/operator.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

let dataFolder: string;
let gateway: LocalGateway;
let stop: () => Promise<void>;
const faults = new Faults();
let account: Awaited<ReturnType<typeof startAwsAccount>>;
/** The environment in which a command finds stage prod, which here is the same gateway. */
let prodEnvironment: Readonly<Record<string, string>>;

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway({ interceptor: faults.interceptor }));
  account = await startAwsAccount(gateway);
  prodEnvironment = account.environment;
});
afterAll(async () => {
  await account.stop();
  await stop();
});

/** Runs an operator command as a person would, and waits for its end. */
async function operatorProcess(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATA_DIR: dataFolder, ...environment };
    const file = "infra/operator/main.ts";
    const child = execFile(process.execPath, [file, ...args], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    child.stdin?.end();
  });
}

/** The objects that a command with --json wrote, checked. */
function objectsOf<Row>({ out }: Ended, schema: z.ZodMiniType<Row>): Row[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => schema.parse(JSON.parse(line)));
}

function queueOutput(name: string): string {
  return gateway.stack.outputs.find((output) => output.name === name)?.value ?? "";
}

interface Understood {
  /** The command that would have run. */
  readonly order: Order | undefined;
  readonly out: string;
  readonly err: string;
}

/** Parses a command line without a process and without a gateway. */
async function understand(line: string, canAsk = false): Promise<Understood> {
  const carryOut = vi.fn<(order: Order) => Promise<void>>();
  const { stdout, stderr } = await captured(async () => {
    try {
      await commandLine(canAsk, carryOut).parseAsync(line.split(" "), { from: "user" });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
    }
  });
  return { order: carryOut.mock.lastCall?.[0], out: stdout, err: stderr };
}

/** Text without the line breaks that fit it to a terminal. */
function unwrapped(text: string): string {
  return text.replace(/\s+/g, " ");
}

it("help lists every command, and each one explains its parameters, options and examples", async () => {
  const overview = await operatorProcess(["--help"]);
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
    expect(help.includes("--yes")).toBe(asksFirst === true);
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
  ["wallets debit ada@example.com 5 --reason", "option '--reason <text>' argument missing"],
  ["wallets debit ada@example.com 5 --reason --yes", "The value is missing"],
  ["wallets debit ada@example.com 5 --reason --stage=prod", "The value is missing"],
  ["wallets list-entries", "<organization> is missing"],
  ["opt-outs remove", "<number> is missing"],
  ["recipients erase", "<number> is missing"],
  ["suppressions show", "<address> must be an email address"],
  ["carriers test acme --text hi", "--to is missing"],
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
])("%s, at a terminal: %s, is parsed as %j", async (line, canAsk, understood) => {
  const { order, out, err } = await understand(line, canAsk);
  expect(order).toMatchObject({ ...understood, run: expect.any(Function) });
  expect(order?.stage?.name).toBe(/--stage (\w+)/.exec(line)?.[1]);
  expect(out + err).toBe("");
});

it("a typing error ends with 2 and one line with the reason", async () => {
  expect(await operatorProcess(["wallets", "reopen"])).toEqual({
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
  expect(stdout).toContain("/node_modules/@aws-sdk/client-dynamodb/");
  expect(stdout).not.toMatch(/\/node_modules\/(aws-cdk-lib|constructs|esbuild)\//);
});

it("without a gateway it explains in one line how to start one", async () => {
  const { code, err } = await operatorProcess(["wallets", "verify"], { DATA_DIR: "nothing-here" });
  expect(code).toBe(1);
  expect(err).toMatch(/^No gateway has run here \(.*connections\.json is missing\): npm start\n$/);
});

it("an organization is found by its id or its user's email, and shown with its wallet and ledger", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  await customer.createApiKey();
  await customer.send();

  const { code, out } = await operatorProcess(["organizations", "show", customer.email.toUpperCase()]);
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^Organization  ${customer.organizationId}$`, "m"));
  expect(out).toMatch(new RegExp(`^Owner         ${customer.email} \\(usr_\\w+\\)$`, "m"));
  expect(out).toMatch(/^Wallet {8}0\.992100 USD, open$/m);
  expect(out).toMatch(/^API keys {6}1$/m);
  expect(out).toMatch(/^ {2}2 {2}\S+ {2}message {2}-0\.007900 USD +0\.992100 USD {2}msg_\w+$/m);

  const shown = await operator(["organizations", "show", customer.organizationId, "--json", "--limit", "1"]);
  const [json] = objectsOf(shown, z.object({ ledger: z.array(LedgerEntryRecord), user: z.unknown() }));
  expect(json?.ledger.map(({ seq }) => seq)).toEqual([2]);
  expect(shown.out).not.toContain("passwordHash");

  expect(await operator(["organizations", "show", "missing@example.com"])).toEqual({
    code: 1,
    out: "",
    err: "There is no organization missing@example.com.\n",
  });
});

it("a user who has lost their second factor logs in once it was reset, which is in the audit log", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { email, organizationId } = customer;
  await enableSecondFactor(customer);
  const logIn = async (): Promise<number> =>
    (await call("/v1/auth/login", { json: { email, password }, baseUrl: gateway.url })).status;
  expect(await logIn()).toBe(401);
  const reset = await operator(["users", "reset-second-factor", email.toUpperCase()]);
  const { user } = await customer.client.getMe();
  expect(reset).toEqual({ code: 0, out: `${user.id} logs in with the password alone\n`, err: "" });
  expect(user.secondFactor).toBe(false);
  expect(await logIn()).toBe(200);
  const entries = await operator(["audit-log", organizationId, "--json"]);
  const entry = entries.out.split("\n").find((line) => line.includes("users reset-second-factor"));
  expect(entry).toContain(user.id);
  expect(entry).not.toContain(email);
  const again = await operator(["users", "reset-second-factor", email]);
  expect(again.out).toBe(`${user.id} has no second factor\n`);
  const nobody = await operator(["users", "reset-second-factor", "missing@example.com"]);
  expect(nobody).toEqual({ code: 1, out: "", err: "There is no user missing@example.com.\n" });
});

it("all data of an organization is exported, without secrets, to the output or a new file", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { client, organizationId } = customer;
  const { secret: keySecret } = await customer.createApiKey();
  const body = { url: "http://127.0.0.1:9/nobody", events: ["message.failed" as const] };
  const { id: webhookId, secret: webhookSecret } = await client.createWebhook({ body });
  await client.rotateWebhookSecret({ params: { id: webhookId } });
  await client.testWebhook({ params: { id: webhookId } });
  await client.createContact({ body: { phoneNumber: "15005550100" } });
  await client.createTemplate({ body: { name: "greeting", body: "Hello" } });
  const campaign = { name: "spring", message: "Hello", senderId: "ACME", audience: { all: true } } as const;
  await client.createCampaign({ body: campaign });
  await client.createSenderId({ body: { senderId: "ACME" } });
  await client.submitKyc({ body: { businessName: "ACME" } });
  await reshard(organizationId, 3);
  for (let count = 0; count < 4; count += 1) await customer.send();
  await operator(["prices", "set-override", customer.email, "1", "0.005"]);
  // The operator's data about carriers does not belong to the customer.
  const ofCarriers = { carrier: "aws", costMicros: 1, rejectedBy: ["kannel"] };
  await putItem({ put: { ...keys.contact(organizationId, "con_other"), ...ofCarriers } });
  // Unreadable data belongs to the customer too.
  await putItem({ put: { ...keys.contact(organizationId, "con_broken"), note: "from another time" } });

  const file = path.join(dataFolder, "export.jsonl");
  const written = await operator(["organizations", "export", customer.email, "--to", file]);
  const content = await readFile(file, "utf8");
  const rows = content
    .trimEnd()
    .split("\n")
    .map((line) => z.looseObject({ entity: z.optional(z.string()) }).parse(JSON.parse(line)));
  expect(written).toMatchObject({ code: 0, out: `${rows.length} items written to ${file}\n` });
  const countOf = (entity?: string): number => rows.filter((row) => row.entity === entity).length;
  const single = [
    "user",
    "organization",
    "apiKey",
    "webhook",
    "kyc",
    "senderId",
    "wallet",
    "contact",
    "template",
  ];
  for (const entity of [...single, "campaign", "webhookDelivery"]) expect(countOf(entity), entity).toBe(1);
  expect([countOf("ledgerEntry"), countOf("message")]).toEqual([5, 4]);
  expect(countOf("messageCounts")).toBeGreaterThan(0);
  expect(rows).toContainEqual({ note: "from another time" });
  expect(rows).toContainEqual({});
  expect(countOf("priceOverrides")).toBe(1);
  expect(countOf("auditEntry")).toBeGreaterThan(4);
  expect(countOf("auditOutcome")).toBeGreaterThan(4);
  // The name of an operation is not a secret.
  expect(content.replaceAll("/rotate-secret", "")).not.toMatch(/\$2[aby]\$|whsec_|secret|hash|"pk"/i);
  for (const secret of [keySecret, webhookSecret]) expect(content).not.toContain(secret);
  expect((await stat(file)).mode & 0o077).toBe(0);

  const again = await operator(["organizations", "export", customer.email, "--to", file]);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("EEXIST") });
  const onProd = ["organizations", "export", customer.email, "--stage", "prod"];
  expect(await operator(onProd)).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("add --yes"),
  });
  const shown = await operator(["organizations", "export", organizationId]);
  const Row = z.looseObject({ entity: z.optional(z.string()), action: z.optional(z.string()) });
  const isOfLog = ({ entity }: z.infer<typeof Row>): boolean => entity?.startsWith("audit") === true;
  expect(objectsOf(shown, Row).filter((row) => !isOfLog(row))).toHaveLength(
    rows.filter((row) => !isOfLog(row)).length,
  );
  // The audit log names who exported a customer's data, but not the destination.
  const Entry = z.looseObject({ action: z.string(), outcome: z.string() });
  const entries = objectsOf(await operator(["audit-log", organizationId, "--json"]), Entry);
  const exports = entries.filter(({ action }) => action === "organizations export");
  expect(exports.map(({ outcome }) => outcome)).toEqual(["done", "refused", "done"]);
  expect(exports.at(-1)).toMatchObject({ after: { count: rows.length } });
  expect(JSON.stringify(exports)).not.toContain("export.jsonl");
});

it("members and invitations are exported with it, without the hashes of links and passwords", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { client } = customer;
  const [joined, invited] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`] as const;
  // No link is sent to an address that counts as verified.
  await waitForEmail(gateway, customer.email);
  await noteVerifiedEmail(customer.organizationId);
  await client.inviteMember({ body: { email: joined, role: "developer" } });
  const json = { token: tokenIn(await waitForEmail(gateway, joined)), password, firstName: "Grace" };
  dataOf(await call("/v1/auth/accept-invitation", { baseUrl: gateway.url, json }), AcceptedInvitation);
  await client.inviteMember({ body: { email: invited, role: "viewer" } });
  const token = tokenIn(await waitForEmail(gateway, invited));

  const written = await operator(["organizations", "export", customer.email]);
  const rows = objectsOf(written, z.looseObject({ entity: z.optional(z.string()) }));
  const of = (entity: string): object[] => rows.filter((row) => row.entity === entity);
  expect(of("user")).toEqual([
    expect.objectContaining({ email: customer.email }),
    expect.objectContaining({ email: joined, firstName: "Grace" }),
  ]);
  expect(of("member")).toEqual([
    expect.objectContaining({ role: "owner" }),
    expect.objectContaining({ role: "developer" }),
  ]);
  expect(of("invitation")).toEqual([expect.objectContaining({ email: invited, role: "viewer" })]);
  // The tokens of the owner, who has not opened the link, and of the invitation; the third is used up.
  expect(of("emailToken")).toEqual(
    Array.from({ length: 2 }, () => ({ entity: "emailToken", expiresAt: expect.any(Number) })),
  );
  expect(of("password")).toEqual(
    Array.from({ length: 2 }, () => ({ entity: "password", createdAt: expect.any(String) })),
  );
  const [, secret = ""] = token.split(".");
  for (const proof of [secret, createHash("sha256").update(secret).digest("hex"), "$2"]) {
    expect(written.out).not.toContain(proof);
  }
});

it("a wallet is credited and charged exactly, once for each reference, and its ledger has the reason", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const other = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "9007199.000001", "--reason", "Invoice 7"];
  const first = await operator([...credit, "--json"]);
  const Adjusted = z.object({ balanceMicros: z.int(), reference: z.string(), wasDoneBefore: z.boolean() });
  const [{ reference, ...done } = { reference: "" }] = objectsOf(first, Adjusted);
  expect(done).toEqual({ balanceMicros: 9_007_199_000_001, wasDoneBefore: false });
  expect(first.err).toContain(`--reference ${reference}`);

  const again = await operator([...credit, "--reference", reference]);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("this movement was made before") });
  for (const changed of [credit.with(3, "5"), credit.with(2, other.email)]) {
    const words =
      `^The reference ${reference} belongs to another movement: ` +
      `credit of 9007199\\.000001 USD for ${customer.organizationId} at \\S+Z\\. Nothing was changed\\.\n$`;
    expect(await operator([...changed, "--reference", reference])).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(words)),
    });
  }

  const debit = [
    "wallets",
    "debit",
    customer.organizationId,
    "9007190",
    "--reason",
    "Paid back",
    "--reference",
  ];
  expect(await operator([...debit, "a", "--type", "payment_refund"])).toMatchObject({ code: 0, err: "" });
  const tooMuch = await operator([...debit, "b"]);
  expect(tooMuch).toMatchObject({ code: 1, err: "The balance is lower than that amount.\n" });
  expect(await customer.balance()).toBe(9.000001);

  const { out } = await operator(["wallets", "list-entries", customer.email]);
  expect(out).toMatch(
    /^ {2}2 {2}\S+ {2}payment_refund {2}-9007190\.000000 USD +9\.000001 USD {2}Paid back {2}a$/m,
  );
  const credited = `^ {2}1 {2}\\S+ {2}credit +9007199\\.000001 USD +9007199\\.000001 USD {2}Invoice 7 {2}${reference}$`;
  expect(out).toMatch(new RegExp(credited, "m"));
  expect(out).toContain("2 entries in total; 9.000001 USD, open");
  const Entry = z.object({ type: z.string(), reference: z.string() });
  expect(objectsOf(await operator(["wallets", "list-entries", customer.email, "--json"]), Entry)).toEqual([
    { type: "payment_refund", reference: "a" },
    { type: "credit", reference },
  ]);
  expect((await customer.ledger()).map((entry) => [entry.type, entry.reference])).toEqual([
    ["credit", reference],
    ["payment_refund", "a"],
  ]);
});

it("a payment has its own reference, and a chargeback also takes money that was spent", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "1", "--reason", "Card", "--type"];
  const missing = await operator([...credit, "payment"]);
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("--reference is missing") });
  const wrongWay = await operator([...credit, "chargeback", "--reference", "pi_1"]);
  expect(wrongWay).toMatchObject({
    code: 2,
    err: expect.stringContaining("--type must be one of credit, payment, correction"),
  });
  expect(await operator([...credit, "payment", "--reference", "pi_1"])).toMatchObject({ code: 0, err: "" });
  await customer.send();
  const chargeback = ["wallets", "debit", customer.email, "1", "--reason", "Card", "--type", "chargeback"];
  expect(await operator(chargeback)).toMatchObject({ code: 2 });
  expect(await operator([...chargeback, "--reference", "dp_1"])).toMatchObject({
    code: 0,
    out: `${customer.organizationId}: -1.000000 USD (chargeback), balance -0.007900 USD\n`,
  });
  expect(await customer.balance()).toBe(-0.0079);
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
});

it("a closed wallet rejects sends until it is reopened, and shows why it is closed", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const closed = await operator(["wallets", "close", customer.email, "--reason", "Fraud\u001b[2J"]);
  expect(closed.code).toBe(0);
  expect(closed.out).toMatch(/: 1\.000000 USD, closed since \S+ \(Fraud\u{FFFD}\[2J\)\n$/u);
  expect(errorOf(await customer.trySend())).toEqual({ status: 400, code: "WALLET_MISSING" });

  const reopened = await operator(["wallets", "reopen", customer.email]);
  expect(reopened).toMatchObject({ code: 0, out: `${customer.organizationId}: 1.000000 USD, open\n` });
  expect((await customer.trySend()).status).toBe(202);
});

it("a wallet's cap and rate limit are set for one organization, removed, and reset to the stage's", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  expect(await operator(["wallets", "set-daily-cap", email, "0.01"])).toMatchObject({
    code: 0,
    out: `${organizationId}: daily cap: 0.010000 USD a day\n`,
  });
  expect((await customer.trySend()).status).toBe(202);
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "DAILY_SPEND_CAP_REACHED" });
  expect(await operator(["wallets", "set-daily-cap", email, "none"])).toMatchObject({
    code: 0,
    out: `${organizationId}: daily cap: no limit\n`,
  });
  expect((await customer.trySend()).headers.has("RateLimit-Policy")).toBe(false);
  expect(await operator(["wallets", "set-rate-limit", email, "9000"])).toMatchObject({
    code: 0,
    out: `${organizationId}: rate limit: 9000 messages a second\n`,
  });
  const paced = await customer.trySend();
  expect(paced.status).toBe(202);
  expect(paced.headers.get("RateLimit-Policy")).toBe('"sends";q=9000;w=1');
  expect(await operator(["wallets", "set-rate-limit", email, "default"])).toMatchObject({
    code: 0,
    out: `${organizationId}: rate limit: the stage's limit\n`,
  });
  expect((await customer.trySend()).headers.has("RateLimit-Policy")).toBe(false);
});

it("a KYC submission is listed, shown, rejected with a reason that the customer reads, and approved", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { email, organizationId } = customer;
  expect(await operator(["kyc", "show", email])).toMatchObject({
    code: 1,
    err: `${organizationId} has no KYC submission.\n`,
  });
  const submit = async (json: Record<string, unknown>) =>
    dataOf(await customer.call("/v1/kyc", { json: { businessName: "Ada's Shop", ...json } }), KycSubmission);
  const first = await submit({ country: "GB" });
  const list = await operator(["kyc", "list"]);
  expect(list.out).toMatch(
    new RegExp(`^\\S+Z {2}${organizationId} {2}${first.id} {2}GB +Ada's Shop\\n(?:.+\\n)*\\d pending$`, "m"),
  );

  const rejected = await operator(["kyc", "reject", email, first.id, "--reason", "No number"]);
  expect(rejected).toMatchObject({ code: 0, out: `${organizationId} is rejected\n` });
  expect((await customer.call("/v1/kyc")).body).toMatchObject({ data: { rejectionReason: "No number" } });
  expect((await operator(["kyc", "list"])).out).not.toContain(organizationId);

  const second = await submit({ registrationNumber: "7" });
  expect(await operator(["kyc", "approve", email, first.id])).toMatchObject({
    code: 1,
    err: "The submission has been replaced by another one.\n",
  });
  expect(await operator(["kyc", "approve", email, second.id])).toMatchObject({ code: 0 });
  const shown = await operator(["kyc", "show", organizationId]);
  expect(shown.out).toMatch(/^Status {8}approved\nBusiness {6}Ada's Shop\nRegistration {2}7$/m);
});

it("a sender ID is listed, approved so that messages carry it, and rejected again", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  await customer.call("/v1/sender-ids", { json: { senderId: "ADASHOP", useCase: "Orders" } });
  const list = await operator(["sender-ids", "list", "--json"]);
  const Listed = z.object({ id: z.string(), organizationId: z.string() });
  const request = objectsOf(list, Listed).find((each) => each.organizationId === organizationId);
  const id = request?.id ?? "";

  const approved = await operator(["sender-ids", "approve", email, id]);
  expect(approved).toMatchObject({ code: 0, out: `ADASHOP of ${organizationId} is approved\n` });
  expect((await customer.trySend({ senderId: undefined })).status).toBe(202);
  const { out } = await operator(["organizations", "show", email]);
  expect(out).toMatch(/^Sender IDs {4}ADASHOP approved \(default\)$/m);

  const reject = ["sender-ids", "reject", email, id, "--reason", "Another company"];
  expect(await operator(reject)).toMatchObject({ code: 0 });
  expect(errorOf(await customer.trySend({ senderId: undefined })).code).toBe("MISSING_SENDER_ID");
  expect(await operator(["sender-ids", "approve", email, "sid_1"])).toMatchObject({
    code: 1,
    err: `${organizationId} has not requested sid_1.\n`,
  });
});

it("a sender ID belongs to one customer unless it is shared", async () => {
  const register = async (): Promise<{ customer: Customer; id: string }> => {
    const customer = await Customer.register({ baseUrl: gateway.url });
    return { customer, id: (await customer.client.createSenderId({ body: { senderId: "OneBank" } })).id };
  };
  const [first, second] = [await register(), await register()];
  const approve = async ({ customer, id }: typeof first, ...more: readonly string[]): Promise<Ended> =>
    operator(["sender-ids", "approve", customer.email, id, ...more]);
  expect(await approve(first)).toMatchObject({ code: 0 });
  const taken = `The sender ID OneBank is approved for another organization: ${first.customer.organizationId}.`;
  expect(await approve(second)).toMatchObject({ code: 1, err: `${taken}\n` });
  expect(await approve(second, "--shared")).toMatchObject({ code: 0 });
});

it("an email is noted as verified, once", async () => {
  const { email, organizationId } = await Customer.register({ baseUrl: gateway.url });
  const show = async (): Promise<string> => (await operator(["organizations", "show", email])).out;
  expect(await show()).toMatch(/^Email {9}not verified$/m);
  const verify = ["organizations", "verify-email", email, "--json"];
  const noted = await operator(verify);
  expect(JSON.parse(noted.out)).toEqual({ organizationId, emailVerifiedAt: expect.any(String) });
  expect(await show()).toMatch(/^Email {9}verified$/m);
  expect((await operator(verify)).out).toBe(noted.out);
});

it("a change in prod needs an agreement", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "5", "--reason", "x", "--stage", "prod"];
  // Without credentials or a region it cannot call AWS: it is rejected before that.
  const refused = await operatorProcess(credit);
  expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("add --yes") });
  expect(await customer.balance()).toBe(0);

  expect(await operatorProcess([...credit, "--yes"], prodEnvironment)).toMatchObject({ code: 0 });
  expect(await customer.balance()).toBe(5);
  const shown = await operatorProcess(
    ["wallets", "list-entries", customer.email, "--stage", "prod"],
    prodEnvironment,
  );
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("1 entries in total") });
  const asking = commands.filter(({ asksFirst }) => asksFirst === true).map(({ name }) => name);
  expect(asking).toEqual([
    "organizations verify-email",
    "organizations suspend",
    "organizations resume",
    "organizations reshard",
    "organizations export",
    "organizations erase",
    "recipients erase",
    "users reset-second-factor",
    "suppressions remove",
    "wallets credit",
    "wallets debit",
    "wallets close",
    "wallets reopen",
    "wallets set-daily-cap",
    "wallets set-rate-limit",
    "kyc approve",
    "kyc reject",
    "sender-ids approve",
    "sender-ids reject",
    "numbers assign",
    "numbers release",
    "opt-outs remove",
    "prices import",
    "prices restore",
    "prices set-override",
    "prices remove-override",
    "sending pause",
    "sending resume",
    "carriers set",
    "carriers enable",
    "carriers disable",
    "carriers test",
    "carriers remove",
    "routes set",
    "routes remove",
    "dead-letters redrive",
  ]);
});

it("before a credit the operator sees whose wallet it is, and which of the facts are verified", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { organizationId, email } = customer;
  const question = async (): Promise<string> => {
    const { order } = await understand(`wallets credit ${email} 500 --reason Invoice --stage prod`, true);
    expect(order?.mustAsk).toBe(true);
    const confirm = vi.fn<Context["confirm"]>().mockRejectedValue(new Error("Nothing was changed."));
    const context: Context = {
      output: new Output(false),
      stackOutput: () => ({ name: "", value: "", description: undefined }),
      stackName: "",
      apiUrl: "",
      stage: undefined,
      stageCarrier: "sandbox",
      minimumMargin: 0,
      confirm,
      record: async () => undefined,
      changed: () => undefined,
    };
    await expect(order?.run(context)).rejects.toThrow("Nothing was changed.");
    const [what = "", about] = confirm.mock.lastCall ?? [];
    expect(about).toMatchObject({ organizationId });
    return what;
  };
  const stranger = await question();
  expect(stranger).toContain("change this wallet by 500.000000 USD (credit), from 0.000000 USD: Invoice\n");
  expect(stranger).toMatch(new RegExp(`^Organization +${organizationId}\nName +${email}$`, "m"));
  expect(stranger).toMatch(new RegExp(`^Owner +${email}, not verified\nKYC +not submitted$`, "m"));

  await customer.call("/v1/kyc", { json: { businessName: "Ada's Shop" } });
  await noteVerifiedEmail(organizationId);
  expect(await question()).toMatch(
    new RegExp(`^Owner +${email}, verified\nKYC +pending \\(Ada's Shop\\)$`, "m"),
  );
  // Functions of customers may write a submission, but not an approval.
  await updateItem(z.unknown(), updateOf(keys.kyc(organizationId), { set: { status: "approved" } }));
  expect(await question()).toMatch(/^KYC +not approved \(Ada's Shop\)$/m);
  expect(await customer.balance()).toBe(0);
});

it("a suspended customer cannot log in, and waiting messages fail, until they are resumed", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  const logIn = async () => call("/v1/auth/login", { json: { email, password }, baseUrl: gateway.url });
  // The test starts its job.
  faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
  const { id } = await customer.send();

  const suspended = await operator(["organizations", "suspend", email, "--reason", "Ticket 7: phishing"]);
  expect(suspended.code).toBe(0);
  expect(suspended.out).toMatch(/^org_\w+ is suspended since \S+ \(Ticket 7: phishing\)\n$/);
  expect(errorOf(await logIn())).toEqual({ status: 403, code: "ORGANIZATION_SUSPENDED" });
  expect(errorOf(await customer.trySend())).toEqual({ status: 403, code: "ORGANIZATION_SUSPENDED" });
  const { out } = await operator(["organizations", "show", email]);
  expect(out).toMatch(/^State +suspended since \S+ \(Ticket 7: phishing\)$/m);
  await new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false }).send(
    new SendMessageCommand({
      QueueUrl: queueOutput(outputNames.queueUrl("transactionalSends")),
      MessageBody: JSON.stringify({ organizationId, messageId: id }),
      MessageGroupId: organizationId,
    }),
  );
  await vi.waitFor(async () => {
    const found = await findItem(MessageRecord, messageKey({ organizationId, id }), { consistent: true });
    expect(found).toMatchObject({ errorCode: "ORGANIZATION_SUSPENDED", refund: "done" });
  }, patience);

  const resumed = await operator(["organizations", "resume", email, "--reason", "Ticket 7: not them"]);
  expect(resumed).toMatchObject({ code: 0, out: `${organizationId} is active\n` });
  expect((await operator(["audit-log", email])).out).toMatch(
    /organizations resume +done +\{.*Ticket 7: not them/,
  );
  expect((await logIn()).status).toBe(200);
  expect((await customer.trySend()).status).toBe(202);
  expect((await customer.message(id)).status).toBe("failed");
});

it("the audit log names the operator of an action, and customers see that it was an operator", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { email, organizationId } = customer;
  await operator(["wallets", "credit", email, "5", "--reason", "Invoice 7", "--reference", "invoice-7"]);
  const close = ["wallets", "close", organizationId, "--reason", "Ticket 7", "--stage", "prod", "--yes"];
  expect(await operatorProcess(close, prodEnvironment)).toMatchObject({ code: 0 });
  const tooMuch = ["wallets", "debit", email, "50", "--reason", "Too much"];
  expect(await operator(tooMuch)).toMatchObject({ code: 1 });
  const again = ["wallets", "credit", email, "6", "--reason", "Invoice 8", "--reference", "a"];
  expect(await operator(again)).toMatchObject({ code: 1 });

  const Entry = z.looseObject({ action: z.string(), actor: z.unknown(), outcome: z.string() });
  const entries = objectsOf(await operator(["audit-log", email, "--json"]), Entry);
  expect(entries).toMatchObject([
    {
      action: "wallets credit",
      subject: { amount: "6" },
      outcome: "refused",
    },
    {
      action: "wallets debit",
      outcome: "rejected",
      errorCode: "INSUFFICIENT_BALANCE",
      before: { balanceMicros: 5_000_000 },
    },
    {
      action: "wallets close",
      actor: { type: "operator", identity },
      subject: { reason: "Ticket 7" },
      outcome: "done",
      before: {},
      after: { closedReason: "Ticket 7" },
    },
    {
      action: "wallets credit",
      actor: { type: "operator", identity: "local operator" },
      subject: { amount: "5", reason: "Invoice 7", reference: "invoice-7" },
      outcome: "done",
      before: { balanceMicros: 0 },
      after: { balanceMicros: 5_000_000 },
    },
    { action: "POST /v1/auth/register", actor: { type: "user" }, outcome: "done" },
  ]);
  // A permanent entry has no email: it belongs to the log of the organization.
  expect(JSON.stringify(entries)).not.toContain(email);
  const shown = await operator(["audit-log", email, "--limit", "3"]);
  expect(shown.out).toMatch(/^\S+ {2}arn:aws:sts::\S+grace +wallets close +done +\{.*Ticket 7.*\}$/m);
  expect(shown.out).toMatch(/\n3 entries\n$/);
  // Only operators see the note and the name of an operator.
  const seen = await customer.call("/v1/audit-log");
  expect(seen.text).toContain('"action":"wallets close"');
  for (const hidden of ["Ticket 7", "grace", "Invoice 7", "Micros"]) expect(seen.text).not.toContain(hidden);

  await operator(["sending", "resume"]);
  const [ofStage] = objectsOf(await operator(["audit-log", "--json", "--limit", "1"]), Entry);
  expect(ofStage).toMatchObject({ action: "sending resume", outcome: "done" });
});

it("nothing is changed when AWS does not identify the operator", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "5", "--reason", "x", "--stage", "prod", "--yes"];
  const nobody = { ...prodEnvironment, AWS_ENDPOINT_URL_STS: "http://127.0.0.1:9", AWS_MAX_ATTEMPTS: "1" };
  expect(await operatorProcess(credit, nobody)).toMatchObject({ code: 1, out: "" });
  expect(await customer.balance()).toBe(0);
  const entries = objectsOf(await operator(["audit-log", customer.email, "--json"]), z.unknown());
  expect(entries).toHaveLength(1);
});

it.each([
  ["org_1\n", true],
  ["  org_1  \n", true],
  ["yes\n", false],
  ["\n", false],
  ["", false],
])("the reply %j to a question counts as %s", async (typed, agreed) => {
  const input = new PassThrough();
  const output = new PassThrough();
  input.end(typed);
  expect(await agrees("Credit Ada\u001b[31m.", "org_1", { input, output })).toBe(agreed);
  expect(String(output.read())).toContain("Credit Ada\u{FFFD}[31m.\nType org_1 to continue: ");
});

it("parked jobs are counted, shown only by their ids, and moved back so that they are done", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
  const { id } = await customer.send();
  const { organizationId } = customer;
  await new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false }).send(
    new SendMessageCommand({
      QueueUrl: queueOutput(outputNames.deadLetterQueueUrl("transactionalSends")),
      MessageBody: JSON.stringify({ organizationId, messageId: id, to: "15005550000" }),
      MessageGroupId: organizationId,
    }),
  );

  const list = await operator(["dead-letters", "list"]);
  expect(list.code).toBe(0);
  expect(list.out).toMatch(/^transactionalSends +1 {2}One-time codes or transactional messages .*queued$/m);
  expect(list.out).toMatch(/^refunds +0 {2}Failed messages are not refunded/m);

  const jobs = ["dead-letters", "list", "--queue", "transactionalSends"];
  const shown = await operator(jobs);
  expect(shown.out).toMatch(new RegExp(`^\\S+Z {2}0 min +1 {2}\\S+ {2}${organizationId} ${id}$`, "m"));
  expect(shown.out).not.toContain("15005550000");
  // Looking at a job does not hide it.
  const [job] = objectsOf(await operator([...jobs, "--json"]), z.object({ ids: z.array(z.string()) }));
  expect(job?.ids).toEqual([organizationId, id]);

  expect((await customer.message(id)).status).toBe("queued");
  const redriven = await operator(["dead-letters", "redrive", "transactionalSends", "--json"]);
  expect(JSON.parse(redriven.out)).toEqual({ queue: "transactionalSends", moved: 1, left: 0 });
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
});

it("the audit distinguishes correct wallets, wrong ones and those that are not settled yet", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { organizationId } = customer;
  await customer.send();
  const good = await operator(["wallets", "verify", customer.email]);
  expect(good.out).toContain(`${organizationId}  0.992100 USD  2 entries  ok\n`);
  expect(good).toMatchObject({ code: 0, out: expect.stringContaining("1 wallets verified, 0 wrong") });

  const key = keyOfEntry(organizationId, 1);
  expect(await findItem(LedgerEntryRecord, key)).toBeDefined();
  await deleteItem(keyOfEntry(organizationId, 2));
  const young = await operator(["wallets", "verify", organizationId]);
  expect(young.code).toBe(0);
  expect(young.out).toContain("pending\n    pending: seq 2 to 2 have no entry");

  const other = await Customer.register({ baseUrl: gateway.url });
  const both = await operator(["wallets", "verify", organizationId, other.email, "--json"]);
  const Audited = z.object({ organizationId: z.string() });
  expect(objectsOf(both, Audited).map((each) => each.organizationId)).toEqual([
    organizationId,
    other.organizationId,
  ]);

  await deleteItem(messageKey({ organizationId, id: (await customer.send()).id }));
  const bad = await operator(["wallets", "verify", "--json"]);
  expect(bad.code).toBe(1);
  const audits = objectsOf(bad, z.object({ organizationId: z.string(), findings: z.array(z.string()) }));
  expect(audits.filter(({ findings }) => findings.length > 0)).toEqual([
    { organizationId, findings: [expect.stringMatching(/^seq 3 pays for msg_\w+, which does not exist$/)] },
  ]);
});

it("an organization is resharded, and its customer sends, reads and lists them as before", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const reshardCommand = ["organizations", "reshard", customer.email];
  expect(await operator([...reshardCommand, "4"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("4 shards"),
  });
  expect(await operator([...reshardCommand, "9"])).toMatchObject({ code: 2 });
  const ids: string[] = [];
  // The shard of each message is random. Ids of the first shard are shorter.
  const lengths = new Set<number>();
  while (ids.length < 12 || (lengths.size < 2 && ids.length < 49)) {
    const { id } = await customer.send();
    ids.push(id);
    lengths.add(id.length);
  }
  expect(lengths.size).toBe(2);
  const listed = pageOf(await customer.call("/v1/sms?limit=50"), Message).rows.map(({ id }) => id);
  expect(listed).toEqual(ids.toSorted().toReversed());
  for (const id of ids) {
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
  }
});

it("a number is erased with or without a plus sign, at one organization or at all", async () => {
  const customers = [1, 2].map(async () => Customer.register({ balance: 1, baseUrl: gateway.url }));
  const [one, other] = await Promise.all(customers);
  if (one === undefined || other === undefined) throw new Error("there are no customers");
  const phoneNumber = "447700900555";
  for (const { client } of [one, other]) await client.createContact({ body: { phoneNumber } });
  const numbersOf = async ({ client }: Customer): Promise<string[]> =>
    (await client.listContacts()).rows.map((contact) => contact.phoneNumber);

  expect(await operator(["recipients", "erase", "0044"])).toMatchObject({ code: 2 });
  const erased = await operator(["recipients", "erase", `+${phoneNumber}`, one.email]);
  expect(erased).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${one.organizationId}: erased in 1 contacts, 0 `),
  });
  expect(await numbersOf(one)).toEqual([]);
  expect(await numbersOf(other)).toEqual([phoneNumber]);
  const everywhere = await operator(["recipients", "erase", phoneNumber, "--json"]);
  const nothing = { messages: 0, deliveries: 0, inbound: 0, optOutsKept: 0, left: 0 };
  expect(objectsOf(everywhere, z.unknown())).toEqual([
    { organizationId: other.organizationId, contacts: 1, ...nothing },
  ]);
  expect(await numbersOf(other)).toEqual([]);

  // The audit log has the erasure, but not the number.
  const Entry = z.looseObject({ action: z.string(), after: z.unknown() });
  const [ofOne] = objectsOf(await operator(["audit-log", one.email, "--json", "--limit", "1"]), Entry);
  const [ofStage] = objectsOf(await operator(["audit-log", "--json", "--limit", "1"]), Entry);
  expect(ofOne).toMatchObject({ after: { organizationIds: [one.organizationId], left: 0 } });
  expect(ofStage).toMatchObject({ after: { organizationIds: "all", left: 0 } });
  for (const entry of [ofOne, ofStage]) {
    expect(entry?.action).toBe("recipients erase");
    expect(JSON.stringify(entry)).not.toContain(phoneNumber);
    expect(JSON.stringify(entry)).not.toContain(one.email);
  }
  const log = { pk: keys.auditEntry(phoneNumber, "").pk, limit: 1, consistent: true };
  expect(await queryItems(z.unknown(), log)).toEqual([]);
});

it("an organization is erased once its wallet is closed, empty and settled, and its ledger stays", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  const { id } = await customer.send();
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), 30_000);
  const erase = ["organizations", "erase", organizationId];
  const refused = (reason: string): object => ({ code: 1, err: expect.stringContaining(reason) });
  expect(await operator(erase)).toMatchObject(refused("run wallets close first"));
  await operator(["wallets", "close", email, "--reason", "erasure requested"]);
  expect(await operator(erase)).toMatchObject(refused("run wallets debit first"));
  await operator(["wallets", "debit", email, "0.9921", "--reason", "paid back"]);
  expect(await operator(erase)).toMatchObject(refused("try again in twenty minutes"));
  gateway.advanceClock(graceMs + minuteMs);
  await runSchedule(gateway, "ReconcileWallets");

  expect(await operator(erase)).toMatchObject({ code: 0, out: expect.stringMatching(/ items erased\n$/) });
  expect(await operator(["organizations", "show", email])).toMatchObject(refused("There is no organization"));
  expect(await operator(erase)).toMatchObject(refused("There is no organization"));
  const login = { email, password };
  expect((await call("/v1/auth/login", { json: login, baseUrl: gateway.url })).status).toBe(401);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], entries: 3 });
});

// The last test, because a sender caches the pause for a minute.
it("sending is paused with a reason that the next operator reads, and resumed", async () => {
  expect(await operator(["sending", "show"])).toMatchObject({ code: 0, out: "active\n" });
  const paused = await operator(["sending", "pause", "--reason", "The carrier is broken"]);
  expect(paused.out).toMatch(/^paused since \S+ \(The carrier is broken\)\n$/);
  expect((await operator(["sending", "show"])).out).toBe(paused.out);
  const resumed = await operator(["sending", "resume", "--json"]);
  expect(objectsOf(resumed, z.strictObject({ entity: z.string(), resumedAt: z.string() }))).toHaveLength(1);
  expect((await operator(["sending", "show"])).out).toMatch(/^active, resumed at \S+\n$/);
});
