import {
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import { checkOutLastRelease } from "../mixed-versions/last-release.ts";
import { isNightly } from "../support/second-opinions.ts";
import { account, everythingOf, expectToWork, lastingOutputs } from "./kept-customer.ts";
import { copySecret, hasDeferredJob, replicate, setUp } from "./replica.ts";
import { changeStage, destroyStack, letSend, stackOf } from "./stage-changes.ts";
import {
  deploymentTimeoutMs,
  destroy,
  ending,
  message,
  operator,
  Organizations,
  outputOf,
  patienceAfterPause,
  rowsOf,
  smoke,
  statusOf,
  until,
} from "./stage-commands.ts";
import { assemblyOf, deploy, mustRunCdk, runCdk } from "./stages.ts";

/*
 * The life of the stage `kept`, in the order of the tests. It keeps its data. The global setup deployed it from the last
 * release. It is updated, at night rolled back and updated again, then restored. Its stack is destroyed, and a new stack
 * adopts its table. At last, at night, it continues in another region.
 */

/** The API key of the customer. */
let apiKey: string;

/** Returns a client with the customer's API key. */
async function customerOfKept(): Promise<Client> {
  return createClient({ baseUrl: await outputOf("kept", outputNames.apiUrl), credential: apiKey });
}

describe("a stage of the last release, updated in place", () => {
  let session: Client;
  let before: object;
  let outputs: readonly string[];
  let scheduledId: string;

  beforeAll(async () => {
    const baseUrl = await outputOf("kept", outputNames.apiUrl);
    const { token } = await createClient({ baseUrl }).register({ body: account });
    session = createClient({ baseUrl, credential: token });
    await session.topUpWallet({ body: { amount: 10 } });
    ({ secret: apiKey } = await session.createApiKey({ body: { name: "before" } }));
    const customer = createClient({ baseUrl, credential: apiKey });
    // Nothing is called there: no message is to fail once it is registered.
    const failed = await customer.sendSms({ body: { ...message, to: "15005550001" } });
    await ending(customer, failed.id, "failed");
    await customer.createWebhook({ body: { url: "https://example.com/sms", events: ["message.failed"] } });
    const sent = await customer.sendSms({ body: { ...message, to: "15005550000" } });
    await ending(customer, sent.id, "sent");
    const scheduledAt = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString();
    ({ id: scheduledId } = await customer.sendSms({ body: { ...message, to: "15005550000", scheduledAt } }));
    await customer.createContact({ body: { phoneNumber: "15006000001" } });
    const template = await customer.createTemplate({ body: { name: "code", body: "Your code is {{code}}" } });
    await customer.createCampaign({
      body: { name: "draft", senderId: "ACME", templateId: template.id, audience: { all: true } },
    });
    await customer.createSenderId({ body: { senderId: "ACME" } });
    await customer.submitKyc({ body: { businessName: "Acme" } });
    await until(
      "the price of the failed message is back",
      async () => Math.abs((await customer.getWallet()).balance - (10 - 2 * 0.0079)) < 1e-9,
    );
    before = await everythingOf(customer);
    outputs = await lastingOutputs();
    await deploy("kept");
  }, deploymentTimeoutMs);

  it("keeps its address, its table and its keys", async () => {
    expect(await lastingOutputs()).toEqual(outputs);
    // The token was signed with the key of sessions.
    expect((await session.getMe()).user?.email).toBe(account.email);
  });

  it("keeps everything that customers have, and lets them log in and send", async () => {
    const customer = await customerOfKept();
    // A release may show more fields.
    expect(await everythingOf(customer)).toMatchObject(before);
    await expectToWork(customer);
  });

  it("lets scheduled messages be cancelled, and refunds them", async () => {
    const { balance } = await session.getWallet();
    await session.cancelSms({ params: { id: scheduledId } });
    expect((await session.getWallet()).balance).toBeCloseTo(balance + 0.0079, 6);
  });

  it("leaves no difference between the stack and the sources", async () => {
    expect(await runCdk(["diff", "--fail", "--app", assemblyOf("kept")])).toMatchObject({ code: 0 });
  });

  it("passes the smoke test", async () => {
    const { out, ...ended } = await smoke("kept");
    expect(ended).toMatchObject({ code: 0, err: "" });
    const actor = z.object({ type: z.string(), identity: z.optional(z.string()) });
    const Entry = z.object({ action: z.string(), actor, outcome: z.string() });
    const organization = /org_\w+/.exec(out)?.[0] ?? "none";
    // A function writes the entry, in the name of the sender of the job. The emulator names the account.
    let entry: z.infer<typeof Entry> | undefined;
    await until("the smoke test is in the audit log", async () => {
      const log = await rowsOf(Entry, "kept", "audit-log", organization);
      entry = log.find(({ action }) => action === "smoke-test");
      return entry?.outcome === "done";
    });
    expect(entry?.actor).toEqual({ type: "operator", identity: "000000000000" });
  });

  it.each(isNightly ? ["the last release"] : [])(
    "is rolled back to %s, and updated again",
    async () => {
      const customer = await customerOfKept();
      const updated = await everythingOf(customer);
      // It has no verifications.
      const replaces = "VerificationKey1B24315A";
      await deploy("kept", { folder: await checkOutLastRelease(), replaces });
      expect(updated).toMatchObject(await everythingOf(customer));
      await expectToWork(customer);
      const rolledBack = await everythingOf(customer);
      await deploy("kept");
      expect(await everythingOf(customer)).toMatchObject(rolledBack);
      await expectToWork(customer);
      expect(await lastingOutputs()).toEqual(outputs);
    },
    2 * deploymentTimeoutMs,
  );

  it("rejects a deployment that would replace the table, before it changes anything", async () => {
    const stack = await stackOf("kept");
    const changed = deploy("kept", { preload: new URL("changed-table.ts", import.meta.url) });
    await expect(changed).rejects.toThrow(/Table\w+ \(AWS::DynamoDB::GlobalTable, .*replaced.*KeySchema/);
    expect(await stackOf("kept")).toEqual(stack);
  });
});

describe.each(isNightly ? ["an earlier moment"] : [])("a restore to %s, as the runbook describes", () => {
  const dynamodb = new DynamoDBClient();
  const restored = "sms-gateway-kept-restored-1";
  let customer: Client;
  let TableName: string;

  beforeAll(async () => {
    TableName = await outputOf("kept", outputNames.tableName);
    const baseUrl = await outputOf("kept", outputNames.apiUrl);
    customer = createClient({ baseUrl, credential: apiKey });
  });

  it(
    "is rejected while the restored table lacks its settings, and then has all data",
    async () => {
      await letSend("kept", false);
      const before = await everythingOf(customer);
      await dynamodb.send(
        new RestoreTableToPointInTimeCommand({
          SourceTableName: TableName,
          TargetTableName: restored,
          UseLatestRestorableTime: true,
        }),
      );
      await waitUntilTableExists({ client: dynamodb, maxWaitTime: 60 }, { TableName: restored });
      await customer.createContact({ body: { phoneNumber: "15006000002" } });
      await changeStage("kept", { adoptTableName: restored });
      const lacking = /deletion-protection-enabled[^]*update-time-to-live[^]*update-continuous-backups/;
      await expect(deploy("kept")).rejects.toThrow(lacking);

      await setUp(restored, dynamodb);
      await deploy("kept");
      expect(await everythingOf(customer)).toEqual(before);
      const [audit] = await rowsOf(Organizations, "kept", "wallets", "verify", account.email);
      expect(audit?.findings).toEqual([]);

      const { id } = await customer.sendSms({ body: { ...message, to: "15005550000" } });
      expect((await customer.getSms({ params: { id } })).status).toBe("queued");
      await letSend("kept", true);
      await ending(customer, id, "sent");
    },
    2 * deploymentTimeoutMs,
  );

  it(
    "is undone by naming the old table",
    async () => {
      const { rows: inRestored } = await customer.listContacts();
      await changeStage("kept", { adoptTableName: TableName });
      await deploy("kept");
      const { rows } = await customer.listContacts();
      expect(rows.length).toBe(inRestored.length + 1);
      expect(rows).toContainEqual(expect.objectContaining({ phoneNumber: "15006000002" }));
    },
    deploymentTimeoutMs,
  );
});

describe("a stage that keeps its data", () => {
  let atLast: object;
  let keys: object;
  let tableName: string;

  it("is not destroyed while it is protected, and its table never", async () => {
    tableName = await outputOf("kept", outputNames.tableName);
    atLast = await everythingOf(await customerOfKept());
    keys = {
      adoptWebhookKeyArn: await outputOf("kept", outputNames.webhookKeyArn),
      adoptSecondFactorKeyArn: await outputOf("kept", outputNames.secondFactorKeyArn),
    };
    const rejected = await runCdk([...destroy, assemblyOf("kept")]);
    expect(rejected.code).not.toBe(0);
    expect(rejected.out + rejected.err).toMatch(/protection/i);
    await destroyStack("kept");
    expect(await statusOf(tableName)).toBe("ACTIVE");
  });

  it("is not adopted by a new stack without the keys of its secrets", async () => {
    await changeStage("kept", { adoptTableName: tableName });
    // The secrets in the table can be read only with the keys that the destroyed stack left.
    await expect(deploy("kept")).rejects.toThrow("adoptWebhookKeyArn must be");
  });

  it(
    "comes back with its customers when a new stack adopts its table and its keys",
    async () => {
      await changeStage("kept", keys);
      await deploy("kept");
      const customer = await customerOfKept();
      expect(await everythingOf(customer)).toEqual(atLast);
      await expectToWork(customer);
    },
    deploymentTimeoutMs,
  );
});

describe.each(isNightly ? ["another region"] : [])("a stage that continues in %s, from a replica", () => {
  const region = "eu-west-1";
  const formerRegion = process.env["AWS_REGION"];
  const pause = async (what: string): Promise<unknown> =>
    operator("kept", what, "pause", "--reason", "Second region", "--table", tableName, "--yes");
  let tableName: string;
  let before: object;

  // The commands set the region of the stage, and other tests use this process.
  afterAll(() => {
    process.env["AWS_REGION"] = formerRegion;
  });

  it(
    "needs a stack there before the replica can be paused",
    async () => {
      await letSend("kept", false);
      before = await everythingOf(await customerOfKept());
      tableName = await outputOf("kept", outputNames.tableName);
      const copy = async (output: string, name: string): Promise<string> =>
        copySecret(await outputOf("kept", output), `sms-gateway-kept-${name}`, region);
      const adoptWebhookKeyArn = await copy(outputNames.webhookKeyArn, "webhook-key");
      const adoptSecondFactorKeyArn = await copy(outputNames.secondFactorKeyArn, "second-factor-key");
      await replicate(tableName, region);
      // The stage first gets an empty table.
      const keys = { adoptWebhookKeyArn, adoptSecondFactorKeyArn };
      await changeStage("kept", { region, ...keys, adoptTableName: undefined });
      await expect(pause("sending")).rejects.toThrow("sms-gateway-kept does not exist");
      await mustRunCdk(["bootstrap", `aws://000000000000/${region}`]);
      await deploy("kept");
      expect(await outputOf("kept", outputNames.tableName)).not.toBe(tableName);
    },
    2 * deploymentTimeoutMs,
  );

  it(
    "has everything that customers have, and sends and charges nothing until the operator resumes both",
    async () => {
      await pause("sending");
      await pause("payments");
      await changeStage("kept", { adoptTableName: tableName });
      await deploy("kept");
      const customer = await customerOfKept();
      expect(await everythingOf(customer)).toEqual(before);
      expect((await operator("kept", "payments", "show-pause")).out).toContain("Second region");
      const { id } = await customer.sendSms({ body: { ...message, to: "15005550000" } });
      await until("the job waits for the end of the pause", async () => hasDeferredJob("kept"));
      expect((await customer.getSms({ params: { id } })).status).toBe("queued");
      for (const what of ["sending", "payments"]) await operator("kept", what, "resume", "--yes");
      await ending(customer, id, "sent", patienceAfterPause);
      await expectToWork(customer);
      expect(await smoke("kept")).toMatchObject({ code: 0, err: "" });
    },
    2 * deploymentTimeoutMs,
  );
});
