import { dayMs, now } from "../platform/clock.ts";
import { dueJob } from "../platform/due-jobs.ts";
import { log } from "../platform/log.ts";
import { enqueue, enqueueAll, maxDelaySeconds, secondsUntil } from "../platform/queue.ts";
import { putItem } from "../platform/table.ts";
import { attemptJob, laneQueues, type WebhookJob } from "./announce.ts";
import { callEndpoint } from "./call.ts";
import {
  claimAttempt,
  giveUp,
  newDelivery,
  putDelivery,
  settleAttempt,
  type DeliveryRecord,
} from "./delivery.ts";
import { disableWebhook, readWebhook, readWebhooks, type WebhookRecord } from "./endpoints.ts";
import { closeCall, openCall } from "./open-calls.ts";
import { retryAt } from "./schedule.ts";

/** An endpoint that has not taken a single call for so long is disabled. */
const maxFailingMs = 5 * dayMs;

/** What finds no place comes again after this long at the most, then after twice as long, and so on. */
const firstPutOffSeconds = 8;

/** The status that asks not to be called again (RFC 9110, 15.5.11). */
const gone = 410;

type EventJob = Extract<WebhookJob, { kind: "event" }>;
type AttemptJob = Extract<WebhookJob, { kind: "attempt" }>;

/**
 * Hands an event out to the endpoints that subscribe to it, or makes an attempt to deliver it to one of them.
 * What an endpoint does, or does not, is noted and never an error of the job.
 * @throws Error when the job has to come again: another dispatcher makes the attempt, or a write failed
 */
export async function dispatchWebhook(job: WebhookJob): Promise<void> {
  if (job.kind === "event") await handOut(job);
  else await attempt(job);
}

async function handOut({ organizationId, eventId, event }: EventJob): Promise<void> {
  const webhooks = await readWebhooks(organizationId);
  const deliveries = webhooks
    .filter(({ events }) => events.includes(event.event))
    .map((webhook) => ({ webhookId: webhook.id, delivery: newDelivery(webhook, eventId, event) }));
  await Promise.all(
    deliveries.map(async ({ webhookId, delivery }) => putItem(putDelivery(webhookId, delivery))),
  );
  // An event that comes twice finds its deliveries there, but their jobs may be missing; a job too many is
  // refused by the claim.
  await enqueueAll(
    laneQueues.first,
    deliveries
      .filter(({ delivery }) => delivery.state === "pending")
      .map(({ webhookId, delivery: { id: deliveryId } }) =>
        attemptJob({ organizationId, webhookId, deliveryId, attempt: 1, lane: "first" }),
      ),
  );
}

async function attempt(job: AttemptJob): Promise<void> {
  const { organizationId, webhookId, deliveryId, lane } = job;
  const webhook = await readWebhook(organizationId, webhookId);
  if (webhook === undefined) return;
  if (webhook.disabledAt !== undefined) return giveUp(webhookId, deliveryId);
  const open = await openCall(webhookId, lane);
  if (open === undefined) return putOff(job);
  let outcome: "failed" | "succeeded" | undefined;
  let failingSince: Date | undefined;
  try {
    const claimed = await claimAttempt(job);
    if (claimed !== undefined) outcome = await makeAttempt(webhook, claimed);
  } finally {
    failingSince = await closeCall(open, outcome);
  }
  if (failingSince !== undefined && now().getTime() - failingSince.getTime() >= maxFailingMs) {
    await disableWebhook(webhook, "failing");
  }
}

/** Lets a job come again when the endpoint may have a place for it: on the slow lane, and later each time. */
async function putOff(job: AttemptJob): Promise<void> {
  const longestSeconds = Math.min(maxDelaySeconds, firstPutOffSeconds * 2 ** job.putOff);
  const delaySeconds = Math.ceil((longestSeconds * (1 + Math.random())) / 2);
  const later = attemptJob({ ...job, lane: "retry", putOff: job.putOff + 1 });
  await enqueue(laneQueues.retry, { ...later, delaySeconds });
}

async function makeAttempt(webhook: WebhookRecord, claimed: DeliveryRecord): Promise<"failed" | "succeeded"> {
  const { organizationId, id: webhookId } = webhook;
  const { eventId, payload, attempts } = claimed;
  const result = await callEndpoint(webhook, { id: eventId, payload });
  const { status, retryAfter } = "status" in result ? result : {};
  log.info("webhook.called", { organizationId, webhookId, eventId, attempt: attempts, status });
  if (status !== undefined && status >= 200 && status <= 299) {
    await settleAttempt(webhookId, claimed, { state: "succeeded", lastStatus: status });
    return "succeeded";
  }
  const failure = { lastStatus: status, lastError: "error" in result ? result.error : `answered ${status}` };
  if (status === gone) await disableWebhook(webhook, "gone");
  const nextAttemptAt = status === gone ? undefined : retryAt({ attempts, at: now(), retryAfter });
  if (nextAttemptAt === undefined) {
    await settleAttempt(webhookId, claimed, { state: "failed", ...failure });
  } else {
    // The next job first: a crash in between makes a job too many, which its claim makes harmless.
    await queueRetry(webhook, claimed, nextAttemptAt);
    await settleAttempt(webhookId, claimed, { state: "pending", nextAttemptAt, ...failure });
  }
  return "failed";
}

async function queueRetry(webhook: WebhookRecord, failed: DeliveryRecord, at: Date): Promise<void> {
  const { organizationId, id: webhookId } = webhook;
  const dueAt = at.toISOString();
  const job = attemptJob({
    organizationId,
    webhookId,
    deliveryId: failed.id,
    attempt: failed.attempts + 1,
    lane: "retry",
  });
  const delaySeconds = secondsUntil(dueAt);
  if (delaySeconds <= maxDelaySeconds) await enqueue(laneQueues.retry, { ...job, delaySeconds });
  else await putItem(dueJob({ id: `${webhookId}#${failed.id}`, dueAt, queue: laneQueues.retry }, job));
}
