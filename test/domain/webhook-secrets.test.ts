import { createServer } from "node:http";

import { beforeEach, expect, it, vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { sealingKeyIds } from "../../shared/platform/auth/sealed-text.ts";
import { SealingKeyRecord } from "../../shared/platform/auth/sealing-key-record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/rotate-secret.ts";
import { serviceSignature, standardSignature } from "../../shared/webhooks/signature.ts";
import { deleteWebhook } from "../../shared/webhooks/webhooks.ts";
import { advance } from "../support/clock.ts";
import { damage } from "../support/items.ts";
import { useOwnTable } from "../support/own-table.ts";
import { allRows } from "../support/rows.ts";
import { ownerOf } from "../support/viewer.ts";
import { type WebhookReceiver } from "../support/webhook-receiver.ts";
import {
  attemptOf,
  deliveryOf,
  eventJob,
  noteEvent,
  openWebhook,
  openReceiver,
} from "../support/webhooks.ts";

const start = Date.parse("2031-03-01T12:00:00.000Z");
const firstKey = "the first key of the stage, with 64 characters or so";

/** The key in Secrets Manager. Undefined while the service fails. */
let key: string | undefined;
const secretsManager = createServer((_request, response) => {
  if (key === undefined) response.writeHead(400).end(JSON.stringify({ __type: "ResourceNotFoundException" }));
  else response.end(JSON.stringify({ SecretString: key }));
});
const secretsManagerUrl = `http://127.0.0.1:${await listenOnLoopback(secretsManager)}`;
// It must not keep the worker from its end.
secretsManager.unref();
let hook: WebhookReceiver;

let testCount = 0;
beforeEach(async () => {
  await useOwnTable();
  // A key stays in memory for minutes, which is longer than from one test to the next.
  testCount += 1;
  vi.setSystemTime(start + testCount * 60 * minuteMs);
  key = firstKey;
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", secretsManagerUrl);
  hook = await openReceiver();
});

/** The secrets that have signed a call. */
function signersOf(call: WebhookReceiver["calls"][number] | undefined, secrets: readonly string[]): string[] {
  const { headers = {}, body = "" } = call ?? {};
  const message = {
    id: String(headers["webhook-id"]),
    timestampSeconds: Number(headers["webhook-timestamp"]),
    body,
  };
  const signatures = String(headers["webhook-signature"]).split(" ");
  const signers = signatures.map((each) =>
    secrets.find((secret) => standardSignature(secret, message) === each),
  );
  expect(headers["x-service-signature"]).toBe(serviceSignature(signers[0] ?? "", body));
  return signers.map((signer) => signer ?? "nobody");
}

it("no row of the table has a webhook's secret in clear, when it is created and when it is rotated", async () => {
  const endpoint = await openWebhook(hook.url);
  const { secret } = await rotateWebhookSecret(ownerOf(endpoint.organizationId), endpoint.id);
  const stored = await allRows();
  const families = stored.map(({ pk }) => String(pk).split("#")[0]);
  // An earlier test may have recorded the key's id in the table.
  expect(new Set([...families, "SEALING_KEYS"])).toEqual(new Set(["ORG", "SEALING_KEYS", "WEBHOOK_SECRETS"]));
  const text = JSON.stringify(stored);
  expect(text).not.toContain("whsec_");
  for (const each of [secret, endpoint.secret]) expect(text).not.toContain(each.slice("whsec_".length));
  await dispatchWebhook(eventJob(endpoint.organizationId));
  expect(signersOf(hook.calls[0], [secret, endpoint.secret])).toEqual([secret, endpoint.secret]);
});

it("a removed webhook loses its secrets, and its jobs end", async () => {
  const endpoint = await openWebhook(hook.url);
  const event = await noteEvent(endpoint);
  await deleteWebhook(ownerOf(endpoint.organizationId), endpoint.id);
  expect((await allRows()).map(({ pk }) => pk)).not.toContain(`WEBHOOK_SECRETS#${endpoint.organizationId}`);
  await dispatchWebhook(attemptOf(endpoint, event, 1));
  expect(hook.calls).toEqual([]);
});

it("without the key no attempt is lost, and with another key a rotation makes calls possible again", async () => {
  const endpoint = await openWebhook(hook.url);
  const { organizationId, id } = endpoint;
  const event = await noteEvent(endpoint);
  advance(6 * minuteMs);
  key = undefined;
  await expect(dispatchWebhook(attemptOf(endpoint, event, 1))).rejects.toThrow(
    /ResourceNotFound|UnknownError/,
  );
  key = "another key, which has not sealed anything yet";
  await expect(dispatchWebhook(attemptOf(endpoint, event, 1))).rejects.toThrow("sealed with another key");
  expect(await deliveryOf(endpoint, event)).toMatchObject({ state: "pending", attempts: 0 });

  const { secret } = await rotateWebhookSecret(ownerOf(organizationId), id);
  await dispatchWebhook(attemptOf(endpoint, event, 1));
  expect(signersOf(hook.calls[0], [secret, endpoint.secret])).toEqual([secret]);
});

it("in the steps of a rotation of the key, each webhook is called with its secret", async () => {
  const [old, next] = ["the-old-key-of-the-stage-64-characters", "the-next-key-of-the-stage-64-characters"];
  key = old;
  const webhook = await openWebhook(hook.url);
  const signers = async (...secrets: string[]): Promise<string[]> => {
    await dispatchWebhook(eventJob(webhook.organizationId));
    return signersOf(hook.calls.at(-1), secrets);
  };
  // Each function uses a value for at most five minutes.
  for (const value of [`keys ${old} ${next}`, `keys ${next} ${old}`]) {
    advance(10 * minuteMs);
    key = value;
    expect(await signers(webhook.secret)).toEqual([webhook.secret]);
  }
  const { secret } = await rotateWebhookSecret(ownerOf(webhook.organizationId), webhook.id);
  expect(await signers(secret, webhook.secret)).toEqual([secret, webhook.secret]);
  // The customer has replaced the secret, so that the old key is not needed any more.
  advance(10 * minuteMs);
  key = next;
  expect(await signers(secret, webhook.secret)).toEqual([secret]);
});

it("secrets that are moved to another webhook sign nothing", async () => {
  const [mine, other] = [await openWebhook(hook.url), await openWebhook(hook.url)];
  const sealedOf = async ({ id }: { id: string }): Promise<unknown> =>
    (await allRows()).find(({ sk, pk }) => sk === id && String(pk).startsWith("WEBHOOK_SECRETS#"))?.[
      "sealedSecret"
    ];
  const sealedSecret = await sealedOf(mine);
  await damage(keys.webhookSecrets(other.organizationId, other.id), { sealedSecret });
  await expect(dispatchWebhook(eventJob(other.organizationId))).rejects.toThrow("unable to authenticate");
  expect(hook.calls).toEqual([]);
});

it("the table records the key that sealed its newest secrets", async () => {
  const noted = async () => findItem(SealingKeyRecord, keys.sealingKey("webhooks"), { consistent: true });
  expect(await noted()).toBeUndefined();
  key = "a key of this test alone, with 64 characters or so, and no other";
  const webhook = await openWebhook(hook.url);
  expect(await noted()).toMatchObject({ keyId: sealingKeyIds(key)[0] });
  // The first key was lost, and customers rotate their secrets.
  advance(10 * minuteMs);
  key = "the key that was made in its place, with 64 characters or so";
  await rotateWebhookSecret(ownerOf(webhook.organizationId), webhook.id);
  expect(await noted()).toMatchObject({ keyId: sealingKeyIds(key)[0] });
});
