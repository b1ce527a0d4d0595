import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

import { epochSeconds, now, secondMs } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { enqueueAll } from "../platform/queue.ts";
import type { WebhookJob } from "./announce.ts";
import { readWebhook, readWebhooks, type WebhookRecord } from "./endpoints.ts";
import { serviceSignature, standardSignature } from "./signature.ts";
import { guardedLookup, isPublicHost } from "./target.ts";

/** How long an endpoint may take in all, from the first packet to the status line. */
const callTimeoutMs = 10 * secondMs;

type EventJob = Extract<WebhookJob, { kind: "event" }>;
type DeliveryJob = Extract<WebhookJob, { kind: "delivery" }>;

/**
 * Hands an event out to the endpoints that subscribe to it, or delivers it to one of them. Each endpoint has
 * a job of its own, so one that is down does not make another get the event again.
 * @throws Error when the endpoint did not answer with a 2xx, so that the job comes again
 */
export async function dispatchWebhook(job: WebhookJob): Promise<void> {
  if (job.kind === "event") await handOut(job);
  else await deliver(job);
}

async function handOut(job: EventJob): Promise<void> {
  const webhooks = await readWebhooks(job.organizationId);
  const deliveries = webhooks
    .filter(({ events }) => events.includes(job.event.event))
    .map(({ id }): DeliveryJob => ({ ...job, kind: "delivery", webhookId: id }));
  await enqueueAll(
    "webhookDeliveries",
    deliveries.map((body) => ({ group: job.organizationId, body })),
  );
}

async function deliver(job: DeliveryJob): Promise<void> {
  const { organizationId, webhookId, eventId } = job;
  const webhook = await readWebhook(organizationId, webhookId);
  if (webhook === undefined) return;
  const status = await call(webhook, job);
  log.info("webhook.called", { organizationId, webhookId, eventId, status });
  if (status < 200 || status > 299) throw new Error(`the endpoint answered ${status}`);
}

/** Makes one signed call and returns the status. Redirects are not followed and the body is not read. */
async function call(webhook: WebhookRecord, job: DeliveryJob): Promise<number> {
  const url = new URL(webhook.url);
  if (!isPublicHost(url)) throw new Error("the webhook's host is not a public address");
  const body = JSON.stringify(job.event);
  const timestampSeconds = epochSeconds(now());
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "User-Agent": "sms-gateway-webhooks/1",
    "X-Service-Event": job.event.event,
    "X-Service-Signature": serviceSignature(webhook.secret, body),
    "webhook-id": job.eventId,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": standardSignature(webhook.secret, { id: job.eventId, timestampSeconds, body }),
  };
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: "POST", headers, lookup: guardedLookup, signal: AbortSignal.timeout(callTimeoutMs) },
      (response) => {
        resolve(response.statusCode ?? 0);
        response.destroy();
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
