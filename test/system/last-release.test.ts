import { readFile } from "node:fs/promises";

import { DynamoDBClient, paginateScan, PutItemCommand, type AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { createClient, type Client } from "../../shared/client.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, updateItem } from "../../shared/platform/table/table.ts";
import { updateOf } from "../../shared/platform/table/update.ts";
import { auditWallet } from "../../shared/reconciliation/audit.ts";
import { rebuildAgenda } from "../../shared/reconciliation/rebuild-agenda.ts";
import { graceMs } from "../../shared/wallet/settlement.ts";
import { standardSignature } from "../../shared/webhooks/signature.ts";
import { moveSecretsJob } from "../../shared/webhooks/webhook-job.ts";
import { writtenBy } from "../fixtures/customer.ts";
import { call, errorOf } from "../support/api.ts";
import { Faults } from "../support/faults.ts";
import { functionNamed, runSchedule } from "../support/functions.ts";
import { startOwnGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

/*
 * What the last release has left in the table, in use with the present code: see `test/fixtures/write.ts`.
 */

const Item = z.record(z.string(), z.custom<AttributeValue>());
const Stored = z.looseObject({ entity: z.string(), organizationId: z.optional(z.string()) });
type Stored = z.infer<typeof Stored>;

const lines: string[] = [];
let rows: Stored[];
let gateway: LocalGateway;
let credential: string;
let client: Client;
let organizationId: string;

beforeAll(async () => {
  const content = await readFile(new URL("../fixtures/release-0.2.0.jsonl", import.meta.url), "utf8");
  const items = content
    .trimEnd()
    .split("\n")
    .map((line) => Item.parse(JSON.parse(line)));
  rows = items.map((item) => Stored.parse(unmarshall(item)));
  gateway = await startOwnGateway(new Faults(), (line) => lines.push(line));
  const { name: TableName } = gateway.stack.table;
  process.env[environmentNames.tableName] = TableName;
  const [wallet] = rowsOf("wallet");
  organizationId = wallet?.organizationId ?? "";
  // The rows are from another time. It is then a minute later.
  gateway.advanceClock(Date.parse(String(wallet?.["lastAt"])) + minuteMs - Date.now());
  const dynamodb = new DynamoDBClient({ endpoint: gateway.dynamodbEndpoint });
  for (const item of items) await dynamodb.send(new PutItemCommand({ TableName, Item: item }));
  const { url: baseUrl } = gateway;
  ({ token: credential } = await createClient({ baseUrl }).login({ body: writtenBy }));
  client = createClient({ baseUrl, credential });
});
afterAll(async () => gateway.stop());

function rowsOf(entity: string): Stored[] {
  return rows.filter((row) => row.entity === entity);
}

it("a password of the last release lets in, and is away from the user's record from then on", async () => {
  const [user] = rowsOf("user");
  const userId = String(user?.["id"]);
  expect(user).toHaveProperty("passwordHash");
  // The log-in before these tests has moved it.
  expect(await findItem(z.looseObject({}), keys.user(userId))).not.toHaveProperty("passwordHash");
  const moved = await findItem(z.looseObject({}), keys.password(userId));
  expect(moved).toMatchObject({ passwordHash: user?.["passwordHash"] });
  await createClient({ baseUrl: gateway.url }).login({ body: writtenBy });
  const wrong = { ...writtenBy, password: "wrong horse battery" };
  const refused = await call("/v1/auth/login", { json: wrong, baseUrl: gateway.url });
  expect(errorOf(refused)).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
});

it("every list shows all that the last release wrote, and each of it can be got", async () => {
  const lists: [path: string, entity: string, isGot: boolean][] = [
    ["/v1/auth/api-keys", "apiKey", false],
    ["/v1/sms", "message", true],
    ["/v1/wallet/transactions", "ledgerEntry", false],
    ["/v1/contacts", "contact", true],
    ["/v1/templates", "template", true],
    ["/v1/campaigns", "campaign", true],
    ["/v1/sender-ids", "senderId", false],
    ["/v1/webhooks", "webhook", true],
  ];
  for (const [path, entity, isGot] of lists) {
    const stored = rowsOf(entity).map(({ id }) => String(id));
    expect(stored.length, entity).toBeGreaterThan(0);
    const response = await read(`${path}?limit=100`);
    const { data, meta } = Listed.parse(response);
    expect(data.map(({ id }) => id).toSorted(), path).toEqual(stored.toSorted());
    expect(meta.total, path).toBe(stored.length);
    const got = isGot ? await Promise.all(data.map(async ({ id }) => read(`${path}/${id}`))) : [];
    expect(got).toEqual(isGot ? data.map((row) => ({ data: row })) : []);
  }
  const deliveries = await Promise.all(
    rowsOf("webhook").map(async ({ id }) =>
      Listed.parse(await read(`/v1/webhooks/${String(id)}/deliveries?limit=100`)),
    ),
  );
  expect(deliveries.flatMap(({ data }) => data)).toHaveLength(rowsOf("webhookDelivery").length);
  for (const path of ["/v1/auth/me", "/v1/wallet", "/v1/kyc", "/v1/dashboard/stats"]) await read(path);
  expect(lines.filter((line) => line.includes("unreadable"))).toEqual([]);
});

const Listed = z.object({
  data: z.array(z.looseObject({ id: z.string() })),
  meta: z.looseObject({ total: z.number() }),
});

/** What the gateway answers with success. */
async function read(path: string): Promise<unknown> {
  const response = await call(path, { credential, baseUrl: gateway.url });
  expect(response.status, path).toBe(200);
  return response.body;
}

it("a repeat of a request that the last release answered gets its answer", async () => {
  const body = { to: "15005550000", message: "Grüße" };
  const { id } = await client.sendSms({ body, idempotencyKey: "send" });
  expect(rowsOf("message").map((row) => row["id"])).toContain(id);
});

it("the books of the last release are in order, and are settled and added to", async () => {
  expect(await auditWallet(organizationId)).toMatchObject({ findings: [] });
  expect(await rebuildAgenda(organizationId)).toBeGreaterThan(0);
  const { id } = await client.sendSms({ body: { to: "15005550000", message: "new" } });
  await vi.waitFor(async () => {
    expect(await client.getSms({ params: { id } })).toMatchObject({ status: "sent" });
  }, patience);
  gateway.advanceClock(graceMs + minuteMs);
  await runSchedule(gateway, "ReconcileWallets");
  expect(await auditWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
  expect(lines.filter((line) => /inconsistent|missing|reconciliation_failed/.test(line))).toEqual([]);
});

it("an endpoint is called with its secrets of before, also when they were moved to their place, where none is in clear", async () => {
  const endpoint = rowsOf("webhook").find(({ disabledAt }) => disabledAt === undefined);
  const { id, secret, previousSecret } = WrittenWebhook.parse(endpoint);
  const hook = await startWebhookReceiver();
  try {
    await client.updateWebhook({ params: { id }, body: { url: hook.url, enabled: true } });
    await client.testWebhook({ params: { id } });
    await hook.waitForCalls(1);
    for (const written of rowsOf("webhook")) {
      const { body } = moveSecretsJob(organizationId, String(written["id"]));
      const record = { messageId: String(written["id"]), body: JSON.stringify(body), attributes: {} };
      const moved = await functionNamed(gateway, "DispatchWebhook").invoke({ Records: [record] });
      expect(moved).toEqual({ batchItemFailures: [] });
    }
    await client.testWebhook({ params: { id } });
    await hook.waitForCalls(2);
    for (const { headers, body } of hook.calls) {
      const timestampSeconds = Number(headers["webhook-timestamp"]);
      const message = { id: String(headers["webhook-id"]), timestampSeconds, body };
      const signatures = [secret, previousSecret].map((each) => standardSignature(each, message));
      expect(headers["webhook-signature"]).toBe(signatures.join(" "));
    }
  } finally {
    await hook.stop();
  }
  const dynamodb = new DynamoDBClient({ endpoint: gateway.dynamodbEndpoint });
  const TableName = gateway.stack.table.name;
  for await (const page of paginateScan({ client: dynamodb }, { TableName })) {
    expect(JSON.stringify(page.Items)).not.toContain("whsec_");
  }
});

const WrittenWebhook = z.object({ id: z.string(), secret: z.string(), previousSecret: z.string() });

it("what waits in the table for its time is released, and sent", async () => {
  const waiting = rowsOf("message").find(({ status }) => status === "queued");
  const id = String(waiting?.["id"]);
  expect(await client.getSms({ params: { id } })).toMatchObject({ status: "queued" });
  // Well past its time, for a queue that it comes to sooner goes by the real clock.
  gateway.advanceClock(20 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await vi.waitFor(async () => {
    expect(await client.getSms({ params: { id } })).toMatchObject({ status: "sent" });
  }, patience);
});

it("a draft can be launched, also one of an even older release that knew no last messages", async () => {
  const draft = rowsOf("campaign").find(({ status }) => status === "draft");
  const id = String(draft?.["id"]);
  const forget = updateOf(keys.campaign(organizationId, id), { remove: ["lastMessageIds"] });
  await updateItem(z.unknown(), forget);
  const { rows: campaigns } = await client.listCampaigns();
  expect(campaigns.map((campaign) => campaign.id)).toContain(id);
  await client.launchCampaign({ params: { id } });
  await vi.waitFor(async () => {
    expect(await client.getCampaign({ params: { id } })).toMatchObject({ status: "completed" });
  }, patience);
});
