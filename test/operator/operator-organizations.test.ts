import { createHash, randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";

import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

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
import { callbacksOf } from "../../shared/webhooks/callbacks.ts";
import { call, dataOf, pageOf, password, type Customer } from "../support/api.ts";
import { tokenIn, waitForEmail } from "../support/emails.ts";
import { runSchedule } from "../support/functions.ts";
import { auditLog, jsonOf, operator, operatorProcess, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

const operated = useOperatedGateway();
const { register } = operated;

it("an organization is found by its id or its user's email, and shown with its wallet and ledger", async () => {
  const customer = await register({ balance: 1 });
  await customer.createApiKey();
  await customer.send();

  const show = `organizations show ${customer.email.toUpperCase()}`;
  const { code, out } = await operatorProcess(operated.dataFolder, show);
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^Organization  ${customer.organizationId}$`, "m"));
  expect(out).toMatch(new RegExp(`^Owner         ${customer.email} \\(usr_\\w+\\)$`, "m"));
  expect(out).toMatch(/^Wallet {8}0\.992100 USD, open$/m);
  expect(out).toMatch(/^API keys {6}1$/m);
  expect(out).toMatch(/^ {2}2 {2}\S+ {2}message {2}-0\.007900 USD +0\.992100 USD {2}msg_\w+$/m);

  const shown = await outputOf(`organizations show ${customer.organizationId} --json --limit 1`);
  const { ledger } = z.object({ ledger: z.array(LedgerEntryRecord) }).parse(JSON.parse(shown));
  expect(ledger.map(({ seq }) => seq)).toEqual([2]);
  expect(shown).not.toContain("passwordHash");

  expect(await rejectionOf("organizations show missing@example.com")).toBe(
    "There is no organization missing@example.com.",
  );
});

it("a user who has lost their second factor logs in once it was reset, which is in the audit log", async () => {
  const customer = await register();
  const { email, organizationId } = customer;
  await enableSecondFactor(customer);
  const logIn = async (): Promise<number> =>
    (await call("/v1/auth/login", { json: { email, password }, baseUrl: operated.gateway.url })).status;
  expect(await logIn()).toBe(401);
  const reset = await outputOf(`users reset-second-factor ${email.toUpperCase()}`);
  const { user } = await customer.client.getMe();
  expect(reset).toBe(`${user.id} logs in with the password alone\n`);
  expect(user.secondFactor).toBe(false);
  expect(await logIn()).toBe(200);
  const entries = JSON.stringify(await auditLog("users reset-second-factor", organizationId));
  expect(entries).toContain(user.id);
  expect(entries).not.toContain(email);
  const again = await outputOf(`users reset-second-factor ${email}`);
  expect(again).toBe(`${user.id} has no second factor\n`);
  expect(await rejectionOf("users reset-second-factor missing@example.com")).toBe(
    "There is no user missing@example.com.",
  );
});

it("the operator ends all sessions of a user, also with a slow clock, which is in the audit log", async () => {
  const customer = await register();
  const { email, organizationId, token } = customer;
  const { user } = await customer.client.getMe();
  const headers = { "X-Console": "new", "Sec-Fetch-Site": "same-origin" };
  const baseUrl = operated.gateway.url;
  const logIn = async (): Promise<string> => {
    const response = await call("/v1/auth/console-session", { json: { email, password }, headers, baseUrl });
    return response.headers.get("set-cookie")?.split(";")[0] ?? "";
  };
  const statuses = async (Cookie: string): Promise<number[]> => {
    const byCookie = await call("/v1/auth/me", { headers: { ...headers, Cookie }, baseUrl });
    const byToken = await call("/v1/auth/me", { credential: token, baseUrl });
    return [byCookie.status, byToken.status];
  };
  const cookie = await logIn();
  expect(await statuses(cookie)).toEqual([200, 200]);
  vi.setSystemTime(Date.now() - minuteMs);
  const ended = await outputOf(`users end-sessions ${email.toUpperCase()} --reason x`).finally(() =>
    vi.useRealTimers(),
  );
  expect(ended).toBe(`all sessions of ${user.id} have ended\n`);
  expect(await statuses(cookie)).toEqual([401, 401]);
  expect((await statuses(await logIn()))[0]).toBe(200);
  const entries = JSON.stringify(await auditLog("users end-sessions", organizationId));
  expect(entries).toContain(user.id);
  expect(entries).not.toContain(email);
});

const Row = z.looseObject({ entity: z.optional(z.string()) });

it("all data of an organization is exported, without secrets, to the output or a new file", async () => {
  const customer = await register({ balance: 1 });
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
  await operator(`prices set-override ${customer.email} 1 0.005`);
  for (const [entity, key] of [
    ["payment", keys.payment(organizationId, "pay_1")],
    ["billing", keys.billing(organizationId)],
    ["invoice", keys.invoice(organizationId, "INV-2026-000001")],
    ["verification", keys.verification(organizationId, "ver_1")],
    ["callback", keys.webhookDelivery(callbacksOf(organizationId, false).id, "dlv_1")],
  ] as const) {
    await putItem(putUnchecked(key, { entity }));
  }
  // The operator's data about carriers does not belong to the customer.
  const ofCarriers = { carrier: "aws", costMicros: 1, rejectedBy: ["kannel"] };
  await putItem(putUnchecked(keys.contact(organizationId, "con_other"), ofCarriers));
  // Unreadable data belongs to the customer too.
  await putItem(putUnchecked(keys.contact(organizationId, "con_broken"), { note: "from another time" }));

  const file = path.join(operated.dataFolder, "export.jsonl");
  const written = await outputOf(`organizations export ${customer.email} --to ${file}`);
  const content = await readFile(file, "utf8");
  const rows = content
    .trimEnd()
    .split("\n")
    .map((line) => Row.parse(JSON.parse(line)));
  expect(written).toBe(`${rows.length} items written to ${file}\n`);
  const countOf = (entity?: string): number => rows.filter((row) => row.entity === entity).length;
  const single =
    "user organization apiKey webhook kyc senderId wallet contact template payment billing invoice campaign " +
    "webhookDelivery priceOverrides verification callback";
  for (const entity of single.split(" ")) expect(countOf(entity), entity).toBe(1);
  expect([countOf("ledgerEntry"), countOf("message")]).toEqual([5, 4]);
  expect(countOf("messageCounts")).toBeGreaterThan(0);
  expect(rows).toContainEqual({ note: "from another time" });
  // Items have the names of the table.
  expect(rows.filter((row) => "openClaims" in row)).toHaveLength(4);
  expect(rows).toContainEqual({});
  for (const entity of ["auditEntry", "auditOutcome"]) expect(countOf(entity)).toBeGreaterThan(4);
  // The name of an operation is not a secret.
  expect(content.replaceAll("/rotate-secret", "")).not.toMatch(/\$2[aby]\$|whsec_|secret|hash|"pk"/i);
  for (const secret of [keySecret, webhookSecret]) expect(content).not.toContain(secret);
  expect((await stat(file)).mode & 0o077).toBe(0);

  expect(await rejectionOf(`organizations export ${customer.email} --to ${file}`)).toContain("EEXIST");
  expect(await rejectionOf(`organizations export ${customer.email} --stage prod`, 2)).toContain("add --yes");
  const isOfLog = ({ entity }: z.infer<typeof Row>): boolean => entity?.startsWith("audit") === true;
  const shown = await jsonOf(`organizations export ${organizationId}`, Row);
  expect(shown.filter((row) => !isOfLog(row))).toHaveLength(rows.filter((row) => !isOfLog(row)).length);
  // The audit log names who exported a customer's data, but not the destination.
  const exports = await auditLog("organizations export", organizationId);
  expect(exports.map(({ outcome }) => outcome)).toEqual(["done", "refused", "done"]);
  expect(exports.at(-1)).toMatchObject({ after: { count: rows.length } });
  expect(JSON.stringify(exports)).not.toContain("export.jsonl");
});

it("members and invitations are exported with it, without the hashes of links and passwords", async () => {
  const customer = await register();
  const { client } = customer;
  const [joined, invited] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`] as const;
  // No link is sent to an address that counts as verified.
  await waitForEmail(operated.gateway, customer.email);
  await noteVerifiedEmail(customer.organizationId);
  await client.inviteMember({ body: { email: joined, role: "developer" } });
  const json = { token: tokenIn(await waitForEmail(operated.gateway, joined)), password, firstName: "Grace" };
  dataOf(
    await call("/v1/auth/accept-invitation", { baseUrl: operated.gateway.url, json }),
    AcceptedInvitation,
  );
  await client.inviteMember({ body: { email: invited, role: "viewer" } });
  const token = tokenIn(await waitForEmail(operated.gateway, invited));

  const rows = await jsonOf(`organizations export ${customer.email}`, Row);
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
    expect(JSON.stringify(rows)).not.toContain(proof);
  }
});

it("an organization is resharded, and its customer sends, reads and lists them as before", async () => {
  const customer = await register({ balance: 1 });
  const reshardCommand = `organizations reshard ${customer.email}`;
  expect(await outputOf(`${reshardCommand} 4`)).toContain("4 shards");
  await rejectionOf(`${reshardCommand} 9`, 2);
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
  const [one, other] = [await register(), await register()];
  const phoneNumber = "447700900555";
  for (const { client } of [one, other]) await client.createContact({ body: { phoneNumber } });
  const numbersOf = async ({ client }: Customer): Promise<string[]> =>
    (await client.listContacts()).rows.map((contact) => contact.phoneNumber);

  await rejectionOf("recipients erase 0044", 2);
  const erased = await outputOf(`recipients erase +${phoneNumber} ${one.email}`);
  expect(erased).toContain(`${one.organizationId}: erased in 1 contacts, 0 `);
  expect(await numbersOf(one)).toEqual([]);
  expect(await numbersOf(other)).toEqual([phoneNumber]);
  const nothing = { messages: 0, deliveries: 0, inbound: 0, exports: 0, optOutsKept: 0, left: 0 };
  expect(await jsonOf(`recipients erase ${phoneNumber}`, z.unknown())).toEqual([
    { organizationId: other.organizationId, contacts: 1, ...nothing },
  ]);
  expect(await numbersOf(other)).toEqual([]);

  // The audit log has the erasure, but not the number.
  const ofOne = await auditLog("recipients erase", one.email);
  const ofStage = await auditLog("recipients erase");
  expect(ofOne).toMatchObject([{ after: { organizationIds: [one.organizationId], left: 0 } }]);
  expect(ofStage).toMatchObject([{ after: { organizationIds: "all", left: 0 } }]);
  for (const hidden of [phoneNumber, one.email])
    expect(JSON.stringify([ofOne, ofStage])).not.toContain(hidden);
  const log = { pk: keys.auditEntry(phoneNumber, "").pk, limit: 1, consistent: true };
  expect(await queryItems(z.unknown(), log)).toEqual([]);
});

it("an organization is erased once its wallet is closed, empty and settled, and its ledger stays", async () => {
  const customer = await register({ balance: 1 });
  const { email, organizationId } = customer;
  const { id } = await customer.send();
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
  const erase = `organizations erase ${organizationId}`;
  expect(await rejectionOf(erase)).toContain("run wallets close first");
  await outputOf(`wallets close ${email} --reason 'erasure requested'`);
  expect(await rejectionOf(erase)).toContain("run wallets debit first");
  await operator(`wallets debit ${email} 0.9921 --reason 'paid back'`);
  expect(await rejectionOf(erase)).toContain("try again in twenty minutes");
  operated.gateway.advanceClock(graceMs + minuteMs);
  await runSchedule(operated.gateway, "ReconcileWallets");

  expect(await outputOf(erase)).toMatch(/ items erased\n$/);
  for (const line of [`organizations show ${email}`, erase]) {
    expect(await rejectionOf(line)).toContain("There is no organization");
  }
  const login = { email, password };
  const { status } = await call("/v1/auth/login", { json: login, baseUrl: operated.gateway.url });
  expect(status).toBe(401);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], entries: 3 });
});
