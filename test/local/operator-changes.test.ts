import { PassThrough } from "node:stream";

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { commands } from "../../infra/operator/command-line.ts";
import { agrees, type Context } from "../../infra/operator/context.ts";
import { Output } from "../../infra/operator/output.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { identity, startAwsAccount } from "../support/aws-account.ts";
import { objectsOf, operator, operatorProcess, understand } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";

let dataFolder: string;
let gateway: LocalGateway;
let stop: () => Promise<void>;
let account: Awaited<ReturnType<typeof startAwsAccount>>;
/** The environment in which a command finds stage prod, which here is the same gateway. */
let prodEnvironment: Readonly<Record<string, string>>;

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
  account = await startAwsAccount(gateway);
  prodEnvironment = account.environment;
});
afterAll(async () => {
  await account.stop();
  await stop();
});

it("a change in prod needs an agreement", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "5", "--reason", "x", "--stage", "prod"];
  // Without credentials or a region it cannot call AWS: it is rejected before that.
  const rejected = await operatorProcess(dataFolder, credit);
  expect(rejected).toMatchObject({ code: 2, out: "", err: expect.stringContaining("add --yes") });
  expect(await customer.balance()).toBe(0);

  expect(await operatorProcess(dataFolder, [...credit, "--yes"], prodEnvironment)).toMatchObject({ code: 0 });
  expect(await customer.balance()).toBe(5);
  const shown = await operatorProcess(
    dataFolder,
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
    "payments refund",
    "payments connect",
    "payments pause",
    "payments resume",
    "payments adopt",
    "invoices advance",
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
    "books close",
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

it("the audit log names the operator of an action, and customers see that it was an operator", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { email, organizationId } = customer;
  await operator(["wallets", "credit", email, "5", "--reason", "Invoice 7", "--reference", "invoice-7"]);
  const close = ["wallets", "close", organizationId, "--reason", "Ticket 7", "--stage", "prod", "--yes"];
  expect(await operatorProcess(dataFolder, close, prodEnvironment)).toMatchObject({ code: 0 });
  const tooMuch = ["wallets", "debit", email, "50", "--reason", "Too much"];
  expect(await operator(tooMuch)).toMatchObject({ code: 1 });
  const again = ["wallets", "credit", email, "6", "--reason", "Invoice 8", "--reference", "invoice-7"];
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
      outcome: "refused",
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
  const unreachableSts = {
    ...prodEnvironment,
    AWS_ENDPOINT_URL_STS: "http://127.0.0.1:9",
    AWS_MAX_ATTEMPTS: "1",
  };
  expect(await operatorProcess(dataFolder, credit, unreachableSts)).toMatchObject({ code: 1, out: "" });
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
