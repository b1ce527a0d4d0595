import { randomUUID } from "node:crypto";

import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import type { AwsHandler, AwsRequest, AwsResponse } from "../../infra/local/local-aws.ts";
import { recordsPermissions } from "../../infra/local/permission-records.ts";
import { commands } from "../../infra/operator/command-line.ts";
import { roles, rolesOf, type Role } from "../../infra/stack/operator-roles.ts";
import { sealAuditLogs } from "../../shared/accounts/audit-logs.ts";
import { KycSubmission } from "../../shared/api/contract/kyc.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { paymentPut } from "../../shared/money/payments/record.ts";
import { suppressEmail } from "../../shared/notices/emails/suppression-record.ts";
import { BatchGetCommand, GetCommand, QueryCommand } from "../../shared/platform/aws/dynamodb.ts";
import { isAwsError } from "../../shared/platform/aws/errors.ts";
import { config } from "../../shared/platform/config.ts";
import { client } from "../../shared/platform/table/client.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { propose } from "../../shared/tenancy/approvals.ts";
import { dataOf, type Customer } from "../support/api.ts";
import { settleAll } from "../support/books.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { entriesWritten, operator, operatorProcess, outputOf, type Ended } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { allRows } from "../support/rows.ts";

/*
 * Each command of the operator under the policy of each role, as the template of the stage has it.
 */

/** A smoke test needs a deployed stage, and only the role `operator` may run it. The desk runs the other commands. */
const all = commands.map(({ name }) => name).filter((name) => !["desk", "smoke-test"].includes(name));

/** The operator changes the most, so that its commands come last. */
const inOrder = [...roles].toSorted(
  (one, other) => Number(one === "operator") - Number(other === "operator"),
);

/** While permissions are recorded, none is denied. */
const restricted = recordsPermissions ? [] : inOrder.filter((role) => role !== "operator");

/** The responses to the requests of a role. */
const received: { role: string; body: string }[] = [];
const interceptor = async (request: AwsRequest, next: AwsHandler): Promise<AwsResponse> => {
  const response = await next(request);
  received.push({ role: request.functionName.split("-").at(-1) ?? "", body: response.body });
  return response;
};

const operated = useOperatedGateway({ interceptor });
const text = "Your code for the vault is 471199";
const to = "447700900123";
let customer: Customer;
let carrier: HttpCarrier;
/** The commands that need no words. */
const alone = [
  "organizations list, organizations unusual, payments list, payments list-comparisons, payments compare, payments resume",
  "payments show-pause, approvals list, kyc list, numbers list, prices list, prices list-versions, margins",
  "books list, sending resume, sending show, destinations list, deliveries, carriers list, routes list",
  "dead-letters list, audit-logs verify, verifications list, version",
].join(", ");

/** The words after the name of each other command. */
let words: Readonly<Record<string, string>>;

beforeAll(async () => {
  await outputOf("version");
  customer = await (await operated.register({ balance: 50 })).withApiKey();
  const { email } = customer;
  const { id: message } = await customer.send({ to, message: text });
  const kyc = dataOf(await customer.call("/v1/kyc", { json: { businessName: "Ada" } }), KycSubmission);
  const { id: sid } = await customer.client.createSenderId({ body: { senderId: "ADASHOP" } });
  const spare = await customer.client.createApiKey();
  const hook = await customer.client.createHook({ body: { kind: "logto" } });
  const webhook = await customer.client.createWebhook({ body: { url: "http://127.0.0.1:9/nobody" } });
  const other = await operated.register();
  const paid = await outputOf(`wallets credit ${email} 20 --type payment --reason x --reference bank --json`);
  const { paymentId } = JSON.parse(paid);
  const billing = await readBilling(customer.organizationId);
  const card = { method: "card", origin: "checkout", amountMicros: 5_000_000 } as const;
  const foreign = newPayment({ organizationId: customer.organizationId, billing, ...card });
  await putItem(paymentPut({ ...foreign, status: "expired", pendingWork: undefined, visitAt: undefined }));
  await outputOf(`numbers assign 12025550100 ${email} --carrier aws`);
  await outputOf("destinations block 99877 --reason x");
  await putItem(
    putOf(keys.recentStarts(customer.organizationId, "RANGE#234803000"), {
      entity: "recentStarts",
      blockedUntil: "2100-01-01T00:00:00.000Z",
    }),
  );
  await outputOf(`wallets close ${other.email} --reason x`);
  await customer.call("/v1/opt-outs", { json: { phoneNumber: "447700900199" } });
  for (const role of roles) await suppressEmail(`${role}@example.com`, "bounce", new Date().toISOString());
  carrier = await HttpCarrier.start(says(200, JSON.stringify({ id: "1" })));
  const settings = await operated.fileOf(carrier.settings({}), "settings.json");
  await outputOf(`carriers set acme --settings ${settings}`);
  await outputOf(`carriers set beta --settings ${settings}`);
  // With a balance in each month since then.
  const earlier = await operated.register();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2021-01-10T12:00:00.000Z") });
  await outputOf(`wallets credit ${earlier.email} 1 --reason x --type payment --reference bank-2021`);
  await settleAll("2021-02-02T00:00:00.000Z", [earlier.organizationId]);
  vi.useRealTimers();
  await sealAuditLogs();
  await outputOf("books close 2021-08");
  await outputOf("routes set 99876 --carriers acme");
  const stripeKeys = { secretKey: "sk_test_1", webhookSecret: "whsec_1" };
  const stripe = await operated.fileOf(stripeKeys, "stripe.json");
  const rates = await operated.fileOf("prefix,country,price,cost:sandbox\n44,GB,0.046,0.03\n", "rates.csv");
  await outputOf(`prices import ${rates}`);
  const costs = await operated.fileOf("Country,Price\nGB,0.02\n", "costs.csv");
  const billed = await operated.fileOf("Country,Parts,Amount\nGB,0,0\n", "billed.csv");
  const folder = operated.dataFolder;
  words = {
    ...Object.fromEntries(alone.split(", ").map((name) => [name, ""])),
    "organizations find": `nn_0000;${email};org_0;12025550100;${paymentId};bank;'no such shop';${email.slice(0, 9)}`,
    "organizations show": email,
    "organizations verify-email": email,
    "organizations suspend": `${email} --reason x`,
    "organizations resume": email,
    "organizations reshard": `${email} 2`,
    "organizations export": `${email} --to ${folder}/export-ROLE`,
    "organizations erase": other.organizationId,
    "recipients erase": `15005550199 ${email}`,
    "users list": email,
    "users end-sessions": `${email} --reason x`,
    "keys list": email,
    "keys disable": `${spare.id} --organization ${email} --reason x`,
    "hooks disable": `${hook.id} --reason x`,
    "webhooks list": email,
    "webhooks disable": `${email} ${webhook.id} --reason x`,
    "users reset-second-factor": email,
    "suppressions show": "ROLE@example.com",
    "suppressions remove": "ROLE@example.com",
    "wallets credit": `${email} 1 --reason x;${email} 2 --type payment --reason x --reference bank-ROLE`,
    "wallets debit": `${email} 1 --reason x`,
    "wallets close": `${email} --reason x`,
    "wallets reopen": email,
    "wallets set-daily-cap": `${email} 40`,
    "wallets set-rate-limit": `${email} 40`,
    "wallets list-entries": email,
    "wallets verify": email,
    "payments show": paymentId,
    "payments refund": `${paymentId} --amount 1 --reason x`,
    "payments connect": `--credentials ${stripe}`,
    "payments pause": "--reason x",
    "payments adopt": "pi_1 --reason x",
    "payments abandon": `${foreign.id} --reason x`,
    "invoices advance": "INV-2026-000042 --reason x",
    "approvals approve": "PROPOSAL",
    "approvals reject": "PROPOSAL",
    "messages show": `${message} --organization ${email}`,
    "messages list": `--organization ${email}`,
    "messages find": to,
    "kyc show": email,
    "kyc approve": `${email} ${kyc.id}`,
    "kyc reject": `${email} ${kyc.id} --reason x`,
    "sender-ids list": "--approved",
    "sender-ids approve": `${email} ${sid}`,
    "sender-ids reject": `${email} ${sid} --reason x`,
    "sender-ids find": "ADASHOP",
    "numbers assign": `12025550101 ${email} --carrier aws`,
    "numbers release": "12025550100",
    "verifications unblock": `${email} 234803000`,
    "opt-outs remove": `447700900199 ${email} --reason x`,
    "prices import": rates,
    "prices import-costs": `sandbox ${costs}`,
    "carriers compare-invoice": `acme ${billed} --month 2021-01`,
    "prices restore": "1",
    "prices set-override": `${email} 44 0.5`,
    "prices remove-override": `${email} 44`,
    "books close": "MONTH",
    "books export": `2021-08 --to ${folder}/books-ROLE`,
    "invoices export": `2021-08 --to ${folder}/invoices-ROLE`,
    "sending pause": "--reason x",
    "destinations block": "99878 --reason x",
    "destinations unblock": "99877",
    "destinations limit": "99878 --daily 5 --reason x",
    "carriers show": "acme",
    "carriers set": `acme --settings ${settings}`,
    "carriers enable": "acme",
    "carriers disable": "acme",
    "carriers test": `acme --to ${to} --from ACME --wait 1`,
    "carriers remove": "beta",
    "routes set": "44 --carriers acme",
    "routes remove": "99876",
    "dead-letters redrive": "refunds",
    "audit-log": email,
  };
  await vi.waitFor(async () => {
    if ((await customer.message(message)).status !== "sent") throw new Error("the message is not sent yet");
  }, patience);
});

afterAll(async () => carrier.stop());
afterEach(() => {
  delete process.env["OPERATOR_ROLE"];
});

/** Proposes a credit. @returns the id */
async function proposed(): Promise<string> {
  const role = process.env["OPERATOR_ROLE"] ?? "";
  delete process.env["OPERATOR_ROLE"];
  await operator("version");
  const { organizationId } = customer;
  const input = { organization: organizationId, amount: "1", reason: "x", reference: randomUUID() };
  const movement = { organizationId, amountMicros: 1, what: "credit", proposedBy: "ada" };
  const { id } = await propose({ command: "wallets credit", input, ...movement });
  process.env["OPERATOR_ROLE"] = role;
  return id;
}

/** Runs a command with each of its words. @returns the last end, or the first failure */
async function under(role: Role, name: string): Promise<Ended> {
  process.env["OPERATOR_ROLE"] = role;
  // The first month that is open, because months are closed in order.
  const month = role === "support" || role === "finance" ? "2021-03" : "2021-04";
  let ended: Ended = { code: 0, out: "", err: "" };
  for (const each of (words[name] ?? "").split(";")) {
    const proposal = each === "PROPOSAL" ? await proposed() : "";
    const line = `${name} ${each.replace("ROLE", role).replace("MONTH", month).replace("PROPOSAL", proposal)}`;
    // The SDK, which only these commands use, keeps the credentials of a process.
    const isOfSdk = name.startsWith("dead-letters");
    ended = isOfSdk
      ? await operatorProcess(operated.dataFolder, line, { OPERATOR_ROLE: role })
      : await operator(line);
    if (ended.code !== 0) return ended;
  }
  return ended;
}

/** Everything in the table, which no role may read. */
async function everything(): Promise<Record<string, unknown>[]> {
  delete process.env["OPERATOR_ROLE"];
  await entriesWritten();
  return allRows();
}

/** Everything except the audit log, to which denied commands may add their entries. */
async function state(): Promise<string[]> {
  return (await everything())
    .filter(({ pk }) => !/^(AUDIT|APPROVALS)#/.test(String(pk)))
    .map((row) => JSON.stringify(row))
    .toSorted();
}

it("has words for each command", () => {
  expect(Object.keys(words).toSorted()).toEqual(all.toSorted());
});

it.each(inOrder)("the role %s may run its commands and no others, which change nothing", async (role) => {
  const before = await state();
  const wrong: string[] = [];
  for (const name of recordsPermissions ? [] : all.filter((each) => !rolesOf(each).includes(role))) {
    const { code, out, err } = await under(role, name);
    const isDenied = code === 1 && /not authorized to perform \S+.* lacks this right/.test(err);
    if (!isDenied) wrong.push(`${name}: ${code} ${out} ${err}`);
  }
  expect(wrong).toEqual([]);
  expect(await state()).toEqual(before);
  for (const name of all.filter((each) => rolesOf(each).includes(role))) {
    const { code, err } = await under(role, name);
    // There is no payment to adopt, and payments have not been compared.
    if (code !== 0 && !/resource_missing|days without a comparison/.test(err))
      wrong.push(`${name}: ${code} ${err}`);
  }
  expect(wrong).toEqual([]);
});

/** Commands that show no personal data of customers, or find nothing to change. */
const harmless = [
  "organizations unusual, books list, deliveries, payments adopt, payments compare, payments list-comparisons, payments show-pause, wallets verify, sender-ids list, prices list, prices list-versions",
  "margins, sending show, destinations list, carriers compare-invoice, carriers list, carriers show, routes list, dead-letters list, audit-logs verify, verifications list, version",
].join(", ");

it("every other command left entries in the audit log, without a number or an email", async () => {
  const rows = await everything();
  const entries = rows.filter(({ pk, entity }) => String(pk).startsWith("AUDIT#") && entity === "auditEntry");
  const recorded = new Set(entries.map(({ action }) => action));
  expect(all.filter((name) => !recorded.has(name)).toSorted()).toEqual(harmless.split(", ").toSorted());
  const outcomes = rows
    .filter(({ entity }) => entity === "auditOutcome")
    .map(({ outcome }) => String(outcome));
  expect([...new Set(outcomes)].toSorted()).toEqual(["done", "refused"]);
  const ofOperators = JSON.stringify(entries.filter(({ action }) => !String(action).startsWith("POST")));
  for (const personal of [customer.email, to, text]) expect(ofOperators).not.toContain(personal);
});

it.each(restricted)(
  "the role %s receives no text of a message and no hash, whatever it reads",
  async (role) => {
    const rows = await everything();
    // The hashes of seals are no secrets.
    const others = rows.filter(({ entity }) => entity !== "seal");
    const hashes = others.flatMap((row) => [row["secretHash"], row["passwordHash"], row["hash"]]);
    const secrets = [text, ...hashes.filter((each) => typeof each === "string")];
    expect(secrets.length).toBeGreaterThan(2);
    const disclosed = (): string[] =>
      received
        .filter((each) => each.role === role)
        .flatMap(({ body }) => secrets.filter((secret) => body.includes(secret)));
    expect(received.some((each) => each.role === role)).toBe(true);
    expect(disclosed()).toEqual([]);

    // The same for requests that no command makes.
    process.env["OPERATOR_ROLE"] = role;
    await operator("version");
    const table = config.tableName();
    const attempts = (request: object): object[] => [
      request,
      { ...request, ProjectionExpression: "pk, message, secretHash" },
      { ...request, ProjectionExpression: "pk, #f", ExpressionAttributeNames: { "#f": "message" } },
    ];
    for (const { pk, sk } of rows) {
      const ofItem = attempts({ Key: { pk, sk } });
      const range = { ":pk": pk, ":from": " ", ":to": "~" };
      const KeyConditionExpression = "pk = :pk AND sk BETWEEN :from AND :to";
      const ofRange = attempts({ KeyConditionExpression, ExpressionAttributeValues: range });
      for (const each of ofItem) await trial(new GetCommand({ TableName: table, Key: {}, ...each }));
      for (const each of ofRange) await trial(new QueryCommand({ TableName: table, ...each }));
      const RequestItems = { [table]: { Keys: [{ pk, sk }] } };
      await trial(new BatchGetCommand({ RequestItems }));
    }
    expect(disclosed()).toEqual([]);
  },
);

/** Sends a request, which may be denied. @throws any other error */
async function trial(command: BatchGetCommand | GetCommand | QueryCommand): Promise<void> {
  await client.send<object>(command).catch((error: unknown) => {
    if (!isAwsError(error, "AccessDeniedException")) throw error;
  });
}
