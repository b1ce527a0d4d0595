import { createHash, randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { AcceptedInvitation } from "../../shared/api/contract/members.ts";
import { Message } from "../../shared/api/contract/sms.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { queryItems } from "../../shared/platform/table/read.ts";
import { reshard } from "../../shared/platform/table/shards.ts";
import { putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { call, Customer, dataOf, pageOf, password } from "../support/api.ts";
import { tokenIn, waitForEmail } from "../support/emails.ts";
import { runSchedule } from "../support/functions.ts";
import { objectsOf, operator, operatorProcess } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

let dataFolder: string;
let gateway: LocalGateway;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
});
afterAll(async () => {
  await stop();
});

it("an organization is found by its id or its user's email, and shown with its wallet and ledger", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  await customer.createApiKey();
  await customer.send();

  const { code, out } = await operatorProcess(dataFolder, [
    "organizations",
    "show",
    customer.email.toUpperCase(),
  ]);
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
  const missing = await operator(["users", "reset-second-factor", "missing@example.com"]);
  expect(missing).toEqual({ code: 1, out: "", err: "There is no user missing@example.com.\n" });
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
  for (const [entity, key] of [
    ["payment", keys.payment(organizationId, "pay_1")],
    ["billing", keys.billing(organizationId)],
    ["invoice", keys.invoice(organizationId, "INV-2026-000001")],
  ] as const) {
    await putItem(putUnchecked(key, { entity }));
  }
  // The operator's data about carriers does not belong to the customer.
  const ofCarriers = { carrier: "aws", costMicros: 1, rejectedBy: ["kannel"] };
  await putItem(putUnchecked(keys.contact(organizationId, "con_other"), ofCarriers));
  // Unreadable data belongs to the customer too.
  await putItem(putUnchecked(keys.contact(organizationId, "con_broken"), { note: "from another time" }));

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
    "payment",
    "billing",
    "invoice",
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
  const rejected = (reason: string): object => ({ code: 1, err: expect.stringContaining(reason) });
  expect(await operator(erase)).toMatchObject(rejected("run wallets close first"));
  await operator(["wallets", "close", email, "--reason", "erasure requested"]);
  expect(await operator(erase)).toMatchObject(rejected("run wallets debit first"));
  await operator(["wallets", "debit", email, "0.9921", "--reason", "paid back"]);
  expect(await operator(erase)).toMatchObject(rejected("try again in twenty minutes"));
  gateway.advanceClock(graceMs + minuteMs);
  await runSchedule(gateway, "ReconcileWallets");

  expect(await operator(erase)).toMatchObject({ code: 0, out: expect.stringMatching(/ items erased\n$/) });
  expect(await operator(["organizations", "show", email])).toMatchObject(
    rejected("There is no organization"),
  );
  expect(await operator(erase)).toMatchObject(rejected("There is no organization"));
  const login = { email, password };
  expect((await call("/v1/auth/login", { json: login, baseUrl: gateway.url })).status).toBe(401);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], entries: 3 });
});
