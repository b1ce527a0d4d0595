import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { everyRow } from "../../shared/api/client/client.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { newId } from "../../shared/platform/ids.ts";
import type { MetricName } from "../../shared/platform/metrics.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { messageKey, reshard } from "../../shared/platform/table/shards.ts";
import { deleteItem, putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { listReviews } from "../../shared/tenancy/reviews.ts";
import { Customer, errorOf, pageOf } from "../support/api.ts";
import { runSchedule } from "../support/functions.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const { gateway, log: lines } = await gatewayOfFile();
let customer: Customer;
let organizationId: string;
let webhookId: string;

beforeAll(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  ({ organizationId } = customer);
  const { client } = customer;
  await client.createApiKey();
  ({ id: webhookId } = await client.createWebhook({ body: { url: "http://127.0.0.1:9/nobody" } }));
  await client.testWebhook({ params: { id: webhookId } });
  await client.createContact({ body: { phoneNumber: "15005550100" } });
  await client.createTemplate({ body: { name: "greeting", body: "Hello" } });
  const campaign = { name: "spring", message: "Hello", senderId: "ACME", audience: { all: true } } as const;
  await client.createCampaign({ body: campaign });
  await client.createSenderId({ body: { senderId: "ACME" } });
  await customer.send();
});
beforeEach(() => {
  lines.length = 0;
});

/** A field that a later release might have written, or a mistake. */
async function putUnreadable(key: Key): Promise<void> {
  await putItem(putUnchecked(key, { entity: "from another time", phoneNumber: "15005550199" }));
}

const Line = z.looseObject({ event: z.optional(z.string()), recordKeys: z.optional(z.array(z.string())) });

/** Waits until one line of the log reports an unreadable item by its key, and a metric counts it. */
async function expectOneReport(recordKey: string): Promise<void> {
  await vi.waitFor(() => {
    const said = lines.map((line) => Line.parse(JSON.parse(line)));
    expect(said.filter(({ recordKeys }) => recordKeys?.includes(recordKey))).toMatchObject([
      { level: "error", event: "record.unreadable", recordKeys: [recordKey], count: 1 },
    ]);
    expect(said.some((line) => line["UnreadableRecords"] === 1)).toBe(true);
  }, patience);
}

const lists: readonly [path: () => string, key: () => Key][] = [
  [() => "/v1/auth/api-keys", () => keys.apiKeyOfOrganization(organizationId, newId("key"))],
  [() => "/v1/webhooks", () => keys.webhook(organizationId, newId("whk"))],
  [() => `/v1/webhooks/${webhookId}/deliveries`, () => keys.webhookDelivery(webhookId, newId("dlv"))],
  [() => "/v1/contacts", () => keys.contact(organizationId, newId("con"))],
  [() => "/v1/templates", () => keys.template(organizationId, newId("tpl"))],
  [() => "/v1/campaigns", () => keys.campaign(organizationId, newId("cmp"))],
  [() => "/v1/sender-ids", () => keys.senderId(organizationId, "BROKEN")],
  [() => "/v1/sms", () => messageKey({ organizationId, id: newId("msg") })],
  [() => "/v1/wallet/transactions", () => keyOfEntry(organizationId, 1_000)],
];

it.each(lists.map(([path, key]) => [String(path).slice("() => ".length), path, key] as const))(
  "the list %s leaves out a record that cannot be read, and reports it once",
  async (_, pathOf, keyOf) => {
    const list = async () =>
      pageOf(await customer.call(pathOf()), z.looseObject({ id: z.string() })).rows.map(({ id }) => id);
    const before = await list();
    expect(before.length).toBeGreaterThan(0);
    const key = keyOf();
    await putUnreadable(key);
    expect(await list()).toEqual(before);
    await expectOneReport(`${key.pk} ${key.sk}`);
    expect(lines.join("\n")).not.toContain("15005550199");
    await deleteItem(key);
  },
);

it.each([1, 3])("a list of %i shards continues after an unreadable item", async (shards) => {
  const sender = await Customer.register({ balance: 1, baseUrl: gateway.url });
  if (shards > 1) await reshard(sender.organizationId, shards);
  const sent: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    sent.push((await sender.send()).id);
    await putUnreadable(messageKey({ organizationId: sender.organizationId, id: newId("msg") }));
  }
  for (const limit of [1, 2, 10]) {
    const listed: string[] = [];
    const all = everyRow(async (next) => sender.client.listSms({ query: { limit, ...next } }));
    for await (const { id } of all) listed.push(id);
    expect(listed).toEqual(sent.toReversed());
  }
});

it("one record that cannot be read is a 500, and is reported with its key", async () => {
  const key = keys.contact(organizationId, newId("con"));
  await putUnreadable(key);
  const response = await customer.call(`/v1/contacts/${key.sk}`);
  expect(errorOf(response)).toEqual({ status: 500, code: "INTERNAL" });
  await expectOneReport(`${key.pk} ${key.sk}`);
  await deleteItem(key);
});

it("an email that is a key does not get into the log", async () => {
  const email = "grace@example.com";
  await putUnreadable(keys.email(email));
  const response = await customer.call("/v1/auth/login", { json: { email, password: "correct horse" } });
  expect(errorOf(response)).toEqual({ status: 500, code: "INTERNAL" });
  await expectOneReport("EMAIL#…");
  expect(lines.join("\n")).not.toContain(email);
});

it("the operator's list of reviews continues after an unreadable item", async () => {
  const pending = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of listReviews("sender-ids")) ids.push(id);
    return ids;
  };
  const before = await pending();
  expect(before).toHaveLength(1);
  await putItem(putUnchecked(keys.review("sender-ids", "sid_0"), { entity: "review" }));
  expect(await pending()).toEqual(before);
  await deleteItem(keys.review("sender-ids", "sid_0"));
});

it("a campaign skips an unreadable contact, and reports it", async () => {
  const owner = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const contacts = ["15005550100", "15005550101"].map((phoneNumber) => ({ phoneNumber }));
  await owner.client.importContacts({ body: { contacts } });
  const broken = keys.contact(owner.organizationId, newId("con"));
  await putUnreadable(broken);
  const { rows } = await owner.client.listContacts();
  const contactIds = [broken.sk, ...rows.map(({ id }) => id)];
  for (const audience of [{ all: true as const }, { contactIds }]) {
    const body = { name: "spring", message: "Hello", senderId: "ACME", audience };
    const { id } = await owner.client.createCampaign({ body });
    await owner.client.launchCampaign({ params: { id } });
    await vi.waitFor(async () => {
      expect(await owner.client.getCampaign({ params: { id } })).toMatchObject({
        status: "completed",
        progress: { accepted: 2, skipped: { unknown: 1 } },
      });
    }, patience);
  }
});

it("no unreadable item of a wallet is skipped: the wallet is reported as incorrect", async () => {
  const payer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { id } = await payer.send();
  await vi.waitFor(async () => expect(await payer.message(id)).toMatchObject({ status: "sent" }), patience);
  await putUnreadable(messageKey({ organizationId: payer.organizationId, id }));
  expect(await verifyWallet(payer.organizationId)).toMatchObject({
    findings: [`seq 2 pays for ${id}, which cannot be read`],
  });
  lines.length = 0;
  gateway.advanceClock(graceMs + 60_000);
  await runSchedule(gateway, "ReconcileWallets");
  const counted = (metric: MetricName): unknown[] =>
    lines.map((line) => Line.parse(JSON.parse(line))).filter((line) => line[metric] === 1);
  await vi.waitFor(() => expect(counted("InconsistentLedgers")).toHaveLength(1), patience);

  await putUnreadable(keyOfEntry(payer.organizationId, 2));
  const key = `LEDGER#${payer.organizationId} 0000000000000002`;
  expect(await verifyWallet(payer.organizationId)).toMatchObject({
    findings: [`the record ${key} cannot be read`],
  });
  await payer.send();
  lines.length = 0;
  gateway.advanceClock(graceMs + 60_000);
  await runSchedule(gateway, "ReconcileWallets");
  await vi.waitFor(() => expect(counted("FailedReconciliations")).toHaveLength(1), patience);
  expect(lines.join("\n")).toContain("wallet.reconciliation_failed");
});
