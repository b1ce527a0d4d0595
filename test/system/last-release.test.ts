import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";
import * as z from "zod/mini";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { standardSignature } from "../../shared/webhooks/signature.ts";
import { readLastRelease, type LastRelease } from "../fixtures/last-release.ts";
import { call, errorOf } from "../support/api.ts";
import { runSchedule } from "../support/functions.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

/*
 * The table of the last release, in use with the present code: see `test/fixtures/write.ts`.
 */

const Stored = z.looseObject({ entity: z.string(), organizationId: z.optional(z.string()) });
type Stored = z.infer<typeof Stored>;

const lines: string[] = [];
let release: LastRelease;
let rows: Stored[];
let dataFolder: string;
let gateway: LocalGateway;
let credential: string;
let client: Client;
let organizationId: string;

beforeAll(async () => {
  release = await readLastRelease();
  rows = release.rows.map((item) => Stored.parse(unmarshall(item)));
  dataFolder = await mkdtemp(join(tmpdir(), "sms-gateway-"));
  await writeFile(join(dataFolder, "secrets.json"), JSON.stringify(release.secrets));
  gateway = await startLocalGateway({
    ...inject("assembly"),
    port: 0,
    dataFolder,
    log: (line) => lines.push(line),
    runsSchedules: false,
  });
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  const { name: TableName } = gateway.stack.table;
  process.env[environmentNames.tableName] = TableName;
  const [wallet] = rowsOf("wallet");
  organizationId = wallet?.organizationId ?? "";
  // The rows are older. The clock is set to a minute after them.
  gateway.advanceClock(Date.parse(String(wallet?.["lastAt"])) + minuteMs - Date.now());
  const dynamodb = new DynamoDBClient({ endpoint: gateway.dynamodbEndpoint });
  for (const item of release.rows) await dynamodb.send(new PutItemCommand({ TableName, Item: item }));
  const { url: baseUrl } = gateway;
  ({ token: credential } = await createClient({ baseUrl }).login({ body: release.customer }));
  client = createClient({ baseUrl, credential });
});
afterAll(async () => {
  await gateway.stop();
  await rm(dataFolder, { recursive: true });
});

function rowsOf(entity: string): Stored[] {
  return rows.filter((row) => row.entity === entity);
}

it("a password of the last release logs in, and no other does", async () => {
  await createClient({ baseUrl: gateway.url }).login({ body: release.customer });
  const wrong = { ...release.customer, password: "wrong horse battery" };
  const rejected = await call("/v1/auth/login", { json: wrong, baseUrl: gateway.url });
  expect(errorOf(rejected)).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
});

it("every list shows all items of the last release, and each can be read", async () => {
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

/** The body of a successful response. */
async function read(path: string): Promise<unknown> {
  const response = await call(path, { credential, baseUrl: gateway.url });
  expect(response.status, path).toBe(200);
  return response.body;
}

it("a repeated request to the last release gets the same response", async () => {
  const body = { to: "15005550000", message: "Grüße" };
  const { id } = await client.sendSms({ body, idempotencyKey: "send" });
  expect(rowsOf("message").map((row) => row["id"])).toContain(id);
});

it("the ledgers of the last release are correct, and are settled and continued", async () => {
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
  const { id } = await client.sendSms({ body: { to: "15005550000", message: "new" } });
  await vi.waitFor(async () => {
    expect(await client.getSms({ params: { id } })).toMatchObject({ status: "sent" });
  }, patience);
  gateway.advanceClock(graceMs + minuteMs);
  await runSchedule(gateway, "ReconcileWallets");
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
  expect(lines.filter((line) => /inconsistent|missing|reconciliation_failed/.test(line))).toEqual([]);
});

it("an endpoint is called with its secret of the last release", async () => {
  const endpoint = rowsOf("webhook").find(({ disabledAt }) => disabledAt === undefined);
  const id = String(endpoint?.["id"]);
  const hook = await startWebhookReceiver();
  try {
    await client.updateWebhook({ params: { id }, body: { url: hook.url, enabled: true } });
    await client.testWebhook({ params: { id } });
    await hook.waitForCalls(1);
    for (const { headers, body } of hook.calls) {
      const timestampSeconds = Number(headers["webhook-timestamp"]);
      const message = { id: String(headers["webhook-id"]), timestampSeconds, body };
      const signatures = release.webhookSecrets.map((each) => standardSignature(each, message));
      expect(headers["webhook-signature"]).toBe(signatures.join(" "));
    }
  } finally {
    await hook.stop();
  }
});

it("scheduled messages of the last release are released, and sent", async () => {
  const waiting = rowsOf("message").find(({ status }) => status === "queued");
  const id = String(waiting?.["id"]);
  expect(await client.getSms({ params: { id } })).toMatchObject({ status: "queued" });
  // Well past its time, because a queue that it reaches earlier uses the real clock.
  gateway.advanceClock(20 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await vi.waitFor(async () => {
    expect(await client.getSms({ params: { id } })).toMatchObject({ status: "sent" });
  }, patience);
});

it("a draft can be launched", async () => {
  const draft = rowsOf("campaign").find(({ status }) => status === "draft");
  const id = String(draft?.["id"]);
  await client.launchCampaign({ params: { id } });
  await vi.waitFor(async () => {
    expect(await client.getCampaign({ params: { id } })).toMatchObject({ status: "completed" });
  }, patience);
});
