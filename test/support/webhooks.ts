import type { ServerResponse } from "node:http";

import { onTestFinished } from "vitest";

import type { WebhookEvent } from "../../shared/api/contract/events.ts";
import type { CreatedWebhook } from "../../shared/api/contract/webhooks.ts";
import { EventJob, eventJob as queuedEvent } from "../../shared/notices/event-job.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { createWebhook } from "../../shared/webhooks/create.ts";
import {
  deliveryIdOf,
  DeliveryRecord,
  newDelivery,
  putDelivery,
} from "../../shared/webhooks/delivery-record.ts";
import { findWebhook } from "../../shared/webhooks/record.ts";
import { attemptJob, WebhookJob, type Lane } from "../../shared/webhooks/webhook-job.ts";
import { ownerOf } from "./viewer.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

/** Starts a receiver of webhook calls for one test. */
export async function openReceiver(
  ...answer: Parameters<typeof startWebhookReceiver>
): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver(...answer);
  onTestFinished(async () => receiver.stop());
  return receiver;
}

/** A response that a receiver sends when the test decides. */
export function heldResponse(status: number) {
  let respond = (): void => undefined;
  const answer = () => (response: ServerResponse) => {
    respond = () => void response.writeHead(status).end();
  };
  return { answer, respond: (): void => respond() };
}

/** An endpoint of a new organization, registered in the table without an API. */
export async function openWebhook(
  url: string,
  organizationId: string = newId("org"),
): Promise<CreatedWebhook & { organizationId: string }> {
  const organization = { id: organizationId, name: "Acme", createdAt: "2026-01-01" };
  await putItem(
    putOf(keys.organization(organizationId), { entity: "organization", ...organization }, { absent: ["pk"] }),
  );
  const webhook = await createWebhook(ownerOf(organizationId), {
    url,
    events: ["message.sent", "message.failed"],
  });
  return { ...webhook, organizationId };
}

/** The job that fans out the event of a sent message. */
export function eventJob(organizationId: string): EventJob {
  const id = newId("msg");
  const event: WebhookEvent = {
    event: "message.sent",
    timestamp: new Date().toISOString(),
    data: { id, to: "15005550000", status: "sent" },
  };
  return EventJob.parse(queuedEvent(organizationId, event).body);
}

/** The job of an attempt to deliver an event to an endpoint. */
export function attemptOf(
  endpoint: { readonly organizationId: string; readonly id: string },
  { eventId }: { readonly eventId: string },
  attempt: number,
  lane: Lane = "retry",
): WebhookJob {
  const { organizationId, id: webhookId } = endpoint;
  const deliveryId = deliveryIdOf(eventId);
  return WebhookJob.parse(attemptJob({ organizationId, webhookId, deliveryId, attempt, lane }).body);
}

/** Returns the stored record of a delivery. */
export async function deliveryOf(
  endpoint: { readonly id: string },
  { eventId }: { readonly eventId: string },
): Promise<DeliveryRecord> {
  const key = keys.webhookDelivery(endpoint.id, deliveryIdOf(eventId));
  const delivery = await findItem(DeliveryRecord, key, { consistent: true });
  if (delivery === undefined) throw new Error("there is no such delivery");
  return delivery;
}

/** Notes an event for an endpoint as a dispatcher does that has no slot for the call, without a job. */
export async function noteEvent(endpoint: {
  readonly organizationId: string;
  readonly id: string;
}): Promise<EventJob> {
  const job = eventJob(endpoint.organizationId);
  const webhook = await findWebhook(endpoint.organizationId, endpoint.id);
  if (webhook === undefined) throw new Error("there is no such endpoint");
  await putItem(putDelivery(endpoint.id, newDelivery(webhook, job.eventId, job.event)));
  return job;
}

/** Registers an endpoint with a receiver, and notes an event for it, before its first attempt. */
export async function notedEvent(...answer: Parameters<typeof startWebhookReceiver>) {
  const hook = await openReceiver(...answer);
  const endpoint = await openWebhook(hook.url);
  return { hook, endpoint, event: await noteEvent(endpoint) };
}
