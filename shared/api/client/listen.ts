import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import type { CreateWebhookRequest, WebhookDelivery } from "../contract/webhooks.ts";
import type { Client } from "./client.ts";
import { webAddress } from "./request-values.ts";
import { signWebhook } from "./verify-webhook.ts";

/*
 * Passes webhook calls to a server that the gateway cannot reach. A disabled webhook collects its events: the gateway
 * records them and does not send them. The command reads them, and signs them as the gateway does. A file in the home
 * folder keeps the webhook and the forwarded deliveries, so that a restart continues. A crash repeats at most one call.
 */

const pollIntervalMs = 2_000;
const callTimeoutMs = 10_000;
/** A poll reads at most this many pages of 100 deliveries, the newest first. */
const maxPages = 10;
/** The forwarded deliveries that are remembered, more than a poll reads. */
const maxForwarded = 2_000;

interface State {
  readonly webhookId: string;
  readonly secret: string;
  /** The ids of the forwarded deliveries, the latest last. */
  readonly forwarded: readonly string[];
}

/** Forwards events until the process ends. */
export async function listen(
  client: Client,
  baseUrl: string,
  target: string,
  { events, showsSecret }: { readonly events?: string[] | undefined; readonly showsSecret: boolean },
): Promise<never> {
  const url = webAddress("--forward", target);
  const file = fileOf(baseUrl);
  let state = await readState(file);
  if (state === undefined) {
    // The gateway checks the names.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const names = events === undefined ? {} : { events: events as CreateWebhookRequest["events"] };
    const { id, secret } = await client.createWebhook({ body: { url: `${baseUrl}/health`, ...names } });
    state = { webhookId: id, secret, forwarded: [] };
    await writeState(file, state);
  }
  await client.updateWebhook({ params: { id: state.webhookId }, body: { enabled: false } });
  process.stdout.write(`Forwarding to ${url}.${showsSecret ? ` The secret is ${state.secret}` : ""}\n`);
  for (;;) {
    for (const delivery of await newDeliveries(client, state)) {
      const status = await forward(url, state.secret, delivery).catch(() => undefined);
      const { event, data } = delivery.payload;
      process.stdout.write(`${event} ${data.id}: ${status ?? "no response, trying again"}\n`);
      if (status === undefined) break;
      state = { ...state, forwarded: [...state.forwarded, delivery.id].slice(-maxForwarded) };
      await writeState(file, state);
    }
    await wait(pollIntervalMs);
  }
}

/** Deletes the webhook. */
export async function stopListening(client: Client, baseUrl: string): Promise<void> {
  const state = await readState(fileOf(baseUrl));
  if (state !== undefined) await client.deleteWebhook({ params: { id: state.webhookId } });
  await rm(fileOf(baseUrl), { force: true });
}

/** The deliveries that were not forwarded, the oldest first. */
async function newDeliveries(client: Client, { webhookId, forwarded }: State): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = [];
  let next: { cursor?: string } = {};
  for (let page = 0; page < maxPages; page += 1) {
    const query = { limit: 100, ...next };
    const { rows, meta } = await client.listWebhookDeliveries({ params: { id: webhookId }, query });
    const added = rows.filter(({ id }) => !forwarded.includes(id));
    found.push(...added);
    if (added.length === 0 || meta.nextCursor === undefined) break;
    next = { cursor: meta.nextCursor };
  }
  return found.toReversed();
}

/** Makes a webhook call with the headers of the gateway. @returns the status of the response */
async function forward(url: string, secret: string, { eventId, payload }: WebhookDelivery): Promise<number> {
  const body = JSON.stringify(payload);
  const headers = await signWebhook({ payload: body, secret, id: eventId });
  const signal = AbortSignal.timeout(callTimeoutMs);
  return (await fetch(url, { method: "POST", headers, body, signal })).status;
}

function fileOf(baseUrl: string): string {
  const digest = createHash("sha256").update(baseUrl).digest("hex").slice(0, 12);
  return path.join(homedir(), ".sms-gateway", `listen-${digest}.json`);
}

async function readState(file: string): Promise<State | undefined> {
  const content = await readFile(file, "utf8").catch(() => undefined);
  try {
    return content === undefined ? undefined : JSON.parse(content);
  } catch {
    // The parser's message quotes the file, which has the secret.
    throw new Error(`${file} is damaged: delete it`);
  }
}

async function writeState(file: string, state: State): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  // It contains the secret.
  await writeFile(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${file}.new`, file);
}
