import { PassThrough } from "node:stream";

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { commands } from "../../infra/operator/command-line.ts";
import { agrees, connect, type Context } from "../../infra/operator/context.ts";
import { Output } from "../../infra/operator/output.ts";
import { execute } from "../../infra/operator/run.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { identity, senderId, startAwsAccount } from "../support/aws-account.ts";
import {
  auditLog,
  jsonOf,
  operator,
  operatorProcess,
  outputOf,
  understand,
  type Ended,
} from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const operated = useOperatedGateway();
const { register } = operated;
let account: Awaited<ReturnType<typeof startAwsAccount>>;

beforeAll(async () => {
  account = await startAwsAccount(operated.gateway);
});
afterAll(async () => account.stop());

/** Runs a command on stage prod, which here is the same gateway. */
async function onProd(line: string, environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const all = { ...account.environment, ...environment };
  return operatorProcess(operated.dataFolder, `${line} --stage prod`, all);
}

it("a change in prod needs an agreement", async () => {
  const customer = await register();
  const credit = `wallets credit ${customer.email} 5 --reason x`;
  // Without credentials or a region it cannot call AWS: it is rejected before that.
  const rejected = await operatorProcess(operated.dataFolder, `${credit} --stage prod`);
  expect(rejected).toMatchObject({ code: 2, out: "", err: expect.stringContaining("add --yes") });
  expect(await customer.balance()).toBe(0);

  expect(await onProd(`${credit} --yes`)).toMatchObject({ code: 0 });
  expect(await customer.balance()).toBe(5);
  const shown = await onProd(`wallets list-entries ${customer.email}`);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("1 entries in total") });
});

it("a throughput whose receipts the stage rejects causes a warning", async () => {
  const kannel = { kind: "kannel", url: "https://kannel.example.com/cgi-bin/sendsms" };
  const settings = await operated.fileOf(kannel, "kannel.json");
  const credentials = await operated.fileOf({ username: "ada", password: "x" }, "credentials.json");
  const set = `carriers set london --settings ${settings} --credentials ${credentials} --yes`;
  // The firewall of prod lets through 60,000 requests of an address in five minutes.
  expect(await onProd(`${set} --throughput 200`)).toMatchObject({ code: 0, err: "" });
  const warned = await onProd(`${set} --throughput 250`);
  expect(warned.err).toContain(
    "may report 250 receipts a second, and the stage accepts 200 from one carrier",
  );
  await outputOf("carriers remove london");
});

it("all commands that change something ask first", () => {
  const asking = new Map<string, string[]>();
  for (const { name, asksFirst } of commands) {
    const [group = "", verb = ""] = name.split(" ");
    if (asksFirst !== undefined) asking.set(group, [...(asking.get(group) ?? []), verb]);
  }
  expect([...asking].map(([group, verbs]) => `${group} ${verbs.join(", ")}`)).toEqual([
    "organizations verify-email, suspend, resume, reshard, export, erase",
    "recipients erase",
    "users end-sessions, reset-second-factor",
    "keys disable",
    "hooks disable",
    "webhooks disable",
    "suppressions remove",
    "wallets credit, debit, close, reopen, set-daily-cap, set-rate-limit",
    "payments refund, connect, pause, resume, adopt, abandon",
    "approvals approve, reject",
    "invoices advance",
    "kyc approve, reject",
    "sender-ids approve, reject",
    "numbers assign, release",
    "verifications unblock",
    "opt-outs remove",
    "prices import, restore, import-costs, set-override, remove-override",
    "books close",
    "sending pause, resume",
    "destinations block, unblock, limit",
    "carriers set, enable, disable, test, remove",
    "routes set, remove",
    "dead-letters redrive",
  ]);
});

it("before a credit the operator sees whose wallet it is, and which of the facts are verified", async () => {
  const customer = await register();
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
      priceNoticeDays: undefined,
      secondPersonAboveMicros: Infinity,
      confirm,
      record: async () => undefined,
      changed: () => undefined,
    };
    await expect(order?.run(context)).rejects.toThrow("Nothing was changed.");
    const [what = "", about] = confirm.mock.lastCall ?? [];
    expect(about).toMatchObject({ organizationId });
    return `${what}\n${about?.shown}`;
  };
  const stranger = await question();
  expect(stranger).toContain("change this wallet by 500.000000 USD (credit): Invoice\n");
  expect(stranger).toMatch(new RegExp(`^Organization +${organizationId}\nName +${email}$`, "m"));
  expect(stranger).toMatch(
    new RegExp(`^Owner +${email}, not verified\nKYC +not submitted\nBalance now +0.000000 USD$`, "m"),
  );

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

it("the audit log names the operator of an action, and customers see that it was an operator", async () => {
  const customer = await register();
  const { email, organizationId } = customer;
  const credit = (amount: string, reason: string) =>
    operator(`wallets credit ${email} ${amount} --reason '${reason}' --reference invoice-7`);
  expect(await credit("5", "Invoice 7")).toMatchObject({ code: 0 });
  expect(await onProd(`wallets close ${organizationId} --reason 'Ticket 7' --yes`)).toMatchObject({
    code: 0,
  });
  expect(await operator(`wallets debit ${email} 50 --reason 'Too much'`)).toMatchObject({ code: 1 });
  expect(await credit("6", "Invoice 8")).toMatchObject({ code: 1 });

  const Entry = z.looseObject({ action: z.string(), actor: z.unknown(), outcome: z.string() });
  const entries = await jsonOf(`audit-log ${email}`, Entry);
  expect(entries).toMatchObject([
    { action: "wallets credit", subject: { amount: "6" }, outcome: "refused" },
    {
      action: "wallets debit",
      outcome: "refused",
      errorCode: "INSUFFICIENT_BALANCE",
      before: { balanceMicros: 5_000_000 },
    },
    {
      action: "wallets close",
      actor: { type: "operator", identity: senderId, claimedArn: identity },
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
  const shown = await outputOf(`audit-log ${email} --limit 4`);
  expect(shown).toMatch(/^\S+ {2}AROA:grace +wallets close +done +\{.*Ticket 7.*\}$/m);
  expect(shown).toMatch(/\n4 entries\n$/);
  // Only operators see the note and the name of an operator.
  const seen = await customer.call("/v1/audit-log");
  expect(seen.text).toContain('"action":"wallets close"');
  for (const hidden of ["Ticket 7", "grace", "Invoice 7", "Micros"]) expect(seen.text).not.toContain(hidden);

  await outputOf("sending resume");
  const [ofStage] = await jsonOf("audit-log --limit 1", Entry);
  expect(ofStage).toMatchObject({ action: "sending resume", outcome: "done" });
});

it("nothing is changed when AWS does not identify the operator", async () => {
  const customer = await register();
  const unreachableSts = { AWS_ENDPOINT_URL_STS: "http://127.0.0.1:9", AWS_MAX_ATTEMPTS: "1" };
  const credit = `wallets credit ${customer.email} 5 --reason x --yes`;
  expect(await onProd(credit, unreachableSts)).toMatchObject({ code: 1, out: "" });
  expect(await customer.balance()).toBe(0);
  expect(await jsonOf(`audit-log ${customer.email}`, z.unknown())).toHaveLength(1);
});

it("a question has personal data, so that one without a consent is in the audit log too", async () => {
  const { email, organizationId } = await register();
  const { order } = await understand(`wallets credit ${email} 5 --reason x`);
  if (order === undefined) throw new Error("the line is not valid");
  const entries: unknown[] = [];
  const decline = async (): Promise<never> => {
    entries.push(await auditLog("wallets credit", organizationId));
    throw new RejectedError("Nothing was changed.");
  };
  const declined = execute(order, await connect(undefined), new Output(false), decline);
  await expect(declined).rejects.toThrow("Nothing was changed.");
  entries.push(await auditLog("wallets credit", organizationId));
  expect(entries).toMatchObject([[{ outcome: "unknown" }], [{ outcome: "refused" }]]);
});

it("nothing is changed when the queue does not accept the entry", async () => {
  const customer = await register();
  const line = `wallets credit ${customer.email} 5 --reason x`;
  const { order } = await understand(line);
  if (order === undefined) throw new Error(`${line} is not valid`);
  const connection = await connect(undefined);
  const stackOutput: typeof connection.stackOutput = (name) => ({
    ...connection.stackOutput(name),
    value: connection.stackOutput(name).value.replace("AuditEntries", "Missing"),
  });
  const agree = async (): Promise<void> => undefined;
  await expect(execute(order, { ...connection, stackOutput }, new Output(false), agree)).rejects.toThrow(
    "does not exist",
  );
  expect(await customer.balance()).toBe(0);
  expect(await jsonOf(`audit-log ${customer.email}`, z.unknown())).toHaveLength(1);
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
