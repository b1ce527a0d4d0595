import * as z from "zod/mini";

import { ApiError } from "../api/contract/errors.ts";
import { EventName } from "../api/contract/events.ts";
import { DisabledReason, type Webhook } from "../api/contract/webhooks.ts";
import type { KeyLimits, Viewer } from "../platform/auth/actor.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../platform/table/read.ts";
import { callbacksName, callbacksOf } from "./callbacks.ts";
import type { FailingHealth } from "./in-flight-calls.ts";

/** A customer's endpoint, which is called when something happens. */
export const WebhookRecord = z.object({
  entity: z.literal("webhook"),
  id: z.string(),
  organizationId: z.string(),
  url: z.string(),
  events: z.array(EventName),
  /** Both exist exactly while the webhook is disabled. */
  disabledAt: z.optional(z.string()),
  disabledReason: z.optional(DisabledReason),
  /** The same as `disabledAt` if the operator disabled it: the release before does not know `by_operator`. */
  stoppedAt: z.optional(z.string()),
  createdAt: z.string(),
  /** The user who registered it, also with an API key; absent in items of 0.3.0. */
  createdBy: z.optional(z.string()),
  /** The API key that registered it, if one did; absent in items of 0.4.0. */
  createdWith: z.optional(z.string()),
  /** If that key has limits, the key whose budget it uses: only keys with the same budget may change the webhook. */
  budgetKeyId: z.optional(z.string()),
  /** Present if a test key registered it. It gets events about test messages only. */
  test: z.optional(z.literal(true)),
});
export type WebhookRecord = z.infer<typeof WebhookRecord>;

export const maxWebhooks = 100;

/** Returns all webhooks of an organization, newest first. */
export async function readWebhooks(organizationId: string): Promise<WebhookRecord[]> {
  const { pk } = keys.organization(organizationId);
  const rows = await queryRows(WebhookRecord, {
    pk,
    from: "WEBHOOK#",
    to: "WEBHOOK#~",
    newestFirst: true,
    limit: maxWebhooks,
    consistent: true,
  });
  return itemsOf(rows);
}

/** Returns one webhook; undefined when it has been removed. */
export async function findWebhook(
  organizationId: string,
  webhookId: string,
): Promise<WebhookRecord | undefined> {
  return findItem(WebhookRecord, keys.webhook(organizationId, webhookId), { consistent: true });
}

/**
 * One webhook, or by their name the callbacks. A test key sees those that test keys registered, and the callbacks of test
 * messages: the calls and deliveries of others have live data.
 * @throws ApiError NOT_FOUND, also for a webhook of another organization
 */
export async function readWebhook(viewer: Viewer, webhookId: string): Promise<WebhookRecord> {
  if (webhookId === callbacksName) return callbacksOf(viewer.organizationId, viewer.isTest);
  const webhook = await findWebhook(viewer.organizationId, webhookId);
  if (webhook === undefined || (viewer.isTest && webhook.test === undefined)) throw new ApiError("NOT_FOUND");
  return webhook;
}

/**
 * Rejects an API key with limits for a webhook that no key with its budget registered: the calls of others go to someone else.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireOwnWebhook({ budgetKeyId }: WebhookRecord, limits: KeyLimits | undefined): void {
  if (limits === undefined || limits.budgetKeyId === budgetKeyId) return;
  throw new ApiError("INSUFFICIENT_SCOPE", {
    message: "An API key with limits can change only webhooks that were made with it.",
  });
}

/** Returns a webhook as its owner sees it. @param health how it fails, if it does */
export function toApiWebhook(webhook: WebhookRecord, health?: FailingHealth): Webhook {
  const { id, url, events, test, disabledAt, stoppedAt, createdAt } = webhook;
  const status = disabledAt === undefined ? "enabled" : "disabled";
  const isStopped = disabledAt !== undefined && disabledAt === stoppedAt;
  const disabledReason = isStopped ? "by_operator" : webhook.disabledReason;
  const { failingSince, lastFailure } = health ?? {};
  return { id, url, events, test, status, disabledReason, disabledAt, failingSince, lastFailure, createdAt };
}
