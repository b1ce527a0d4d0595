import { emailOfEvent } from "../notices/emails/email-job.ts";
import type { EventJob } from "../notices/event-job.ts";
import { now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { isTestId } from "../platform/ids.ts";
import { maxDelaySeconds, secondsUntil } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { scheduledJob } from "../platform/jobs/scheduled-job.ts";
import { log } from "../platform/log.ts";
import { putItem } from "../platform/table/write.ts";
import { callWebhook, type CallableWebhook, type CallResult } from "./call.ts";
import { callbacksOf, isCallbacks } from "./callbacks.ts";
import {
  acquireAttempt,
  withFirstAttempt,
  findDelivery,
  giveUp,
  newDelivery,
  recordOutcome,
  releaseAttempt,
  type DeliveryRecord,
} from "./delivery-record.ts";
import {
  closeCall,
  isToBeDisabled,
  openCall,
  waitForSlot,
  withHealth,
  type Failure,
} from "./in-flight-calls.ts";
import { findWebhook, readWebhooks, type WebhookRecord } from "./record.ts";
import { retryAt } from "./retry-schedule.ts";
import { findSecrets } from "./secrets.ts";
import { storeDelivery } from "./store-delivery.ts";
import { attemptJob, type AttemptJob, type WebhookJob } from "./webhook-job.ts";
import { disableWebhook } from "./webhooks.ts";

/** With this status an endpoint requests no further calls (RFC 9110, 15.5.11). */
const gone = 410;

type Attempt = Omit<AttemptJob, "kind">;

/**
 * Handles one job: creates the deliveries of an event and queues its email, or attempts one delivery. An endpoint's response
 * is recorded, and is never an error of the job.
 * @throws Error when the job has to be repeated: another dispatcher makes the attempt, a write failed, or the key of the
 *   secrets is not available
 */
export async function dispatchWebhook(job: WebhookJob): Promise<void> {
  switch (job.kind) {
    case "event":
      return fanOut(job);
    case "attempt":
      return makeAttempt(job);
  }
}

async function fanOut({ organizationId, eventId, event, callbackUrl }: EventJob): Promise<void> {
  const email = config.emailFrom() === undefined ? undefined : emailOfEvent(organizationId, eventId, event);
  if (email !== undefined) await enqueue(email);
  const webhooks = await readWebhooks(organizationId);
  const isTest = isTestId(event.data.id);
  // A holder of a test key chooses the content of test messages, so their events never have the secret of a live webhook.
  const called = webhooks.filter(
    ({ events, test = false }) => events.includes(event.event) && test === isTest,
  );
  if (callbackUrl !== undefined) called.push(callbacksOf(organizationId, isTest, callbackUrl));
  const results = await Promise.allSettled(
    called.map(async (each) => {
      const webhook = await withHealth(each);
      await fanOutTo(webhook, newDelivery(webhook, eventId, event));
    }),
  );
  // The job fails for one webhook only after all of them have been processed.
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Records a delivery. Makes its first attempt immediately, which saves a write and a job, or queues it. */
async function fanOutTo(webhook: WebhookRecord, delivery: DeliveryRecord): Promise<void> {
  const { organizationId, id: webhookId } = webhook;
  if (delivery.state !== "pending") {
    await storeDelivery(webhook, delivery);
    return;
  }
  const attempt = {
    organizationId,
    webhookId,
    deliveryId: delivery.id,
    attempt: 1,
    lane: "first",
    rescheduledCount: 0,
  } as const;
  const waitSeconds = await waitForSlot(webhook, attempt.lane);
  if (waitSeconds !== undefined) {
    if ((await storeDelivery(webhook, delivery)) !== "erased") await requeue(attempt, waitSeconds);
    return;
  }
  const callable = await callableOf(webhook);
  if (callable === undefined) return;
  const noted = withFirstAttempt(delivery);
  const stored = await storeDelivery(webhook, noted);
  if (stored === "erased") return;
  if (stored === "stored") return makeCall(callable, noted, attempt);
  // A repeated event finds its delivery, whose dispatcher may have died. The lease makes a surplus job harmless.
  await enqueue(attemptJob(attempt));
}

async function makeAttempt(attempt: Attempt): Promise<void> {
  const { webhookId, deliveryId, lane } = attempt;
  const webhook = await endpointOf(attempt);
  if (webhook === undefined) return;
  if (webhook.disabledAt !== undefined) return giveUp(webhookId, deliveryId);
  const waitSeconds = await waitForSlot(webhook, lane);
  if (waitSeconds !== undefined) return requeue(attempt, waitSeconds);
  const callable = await callableOf(webhook);
  if (callable === undefined) return;
  const acquired = await acquireAttempt(attempt);
  if (acquired !== undefined) await makeCall(callable, acquired, attempt);
}

/** Returns the webhook of an attempt, or the endpoint of its callback; undefined when it has been removed. */
async function endpointOf(attempt: Attempt): Promise<WebhookRecord | undefined> {
  const { organizationId, webhookId, deliveryId } = attempt;
  if (!isCallbacks(webhookId)) return findWebhook(organizationId, webhookId);
  const { url } = (await findDelivery(webhookId, deliveryId)) ?? {};
  if (url === undefined) return undefined;
  return withHealth({ ...callbacksOf(organizationId, false, url), id: webhookId });
}

/**
 * Returns a webhook with its secrets; undefined when it has been removed. They are read before the lease of an attempt is
 * acquired: if that fails, the queue delivers the job again, and no attempt is lost.
 */
async function callableOf(webhook: WebhookRecord): Promise<CallableWebhook | undefined> {
  const secrets = await findSecrets(webhook);
  return secrets && { ...webhook, ...secrets };
}

/** Makes the call of an attempt whose lease this dispatcher has. */
async function makeCall(webhook: CallableWebhook, acquired: DeliveryRecord, attempt: Attempt): Promise<void> {
  const open = await openCall(webhook);
  if (open === undefined) return releaseAcquired(attempt, acquired);
  const beganAtMs = performance.now();
  const result = await callWebhook(webhook, { id: acquired.eventId, payload: acquired.payload });
  const durationMs = Math.round(performance.now() - beganAtMs);
  const failure = failureOf(result);
  const health = await closeCall(open, failure);
  await finalize(webhook, acquired, { result, failure, durationMs });
  if (health !== undefined && isToBeDisabled(health)) await disableWebhook(webhook, "failing");
}

/** Reschedules an attempt that got no slot. It queues the job first, so that a crash in between loses nothing. */
async function releaseAcquired(attempt: Attempt, acquired: DeliveryRecord): Promise<void> {
  await requeue({ ...attempt, attempt: acquired.attempts }, 1);
  await releaseAttempt(attempt.webhookId, acquired);
}

/** Queues a job again, as a retry. Each time the delay doubles. */
async function requeue(attempt: Attempt, firstSeconds: number): Promise<void> {
  const longestSeconds = Math.min(maxDelaySeconds, firstSeconds * 2 ** attempt.rescheduledCount);
  const delaySeconds = Math.ceil((longestSeconds * (1 + Math.random())) / 2);
  await enqueue(
    attemptJob({ ...attempt, lane: "retry", rescheduledCount: attempt.rescheduledCount + 1 }, delaySeconds),
  );
}

/** Returns the reason why a call failed; undefined when it succeeded. */
function failureOf(result: CallResult): Failure | undefined {
  if ("error" in result) return result;
  const { status } = result;
  return status >= 200 && status <= 299 ? undefined : { status, error: `responded with ${status}` };
}

/** Records the outcome of an attempt, and queues or schedules the next one. */
async function finalize(
  webhook: WebhookRecord,
  acquired: DeliveryRecord,
  call: {
    readonly result: CallResult;
    readonly failure: Failure | undefined;
    readonly durationMs: number;
  },
): Promise<void> {
  const { organizationId, id: webhookId } = webhook;
  const { eventId, attempts } = acquired;
  const { status, retryAfter } = "status" in call.result ? call.result : {};
  log.info("webhook.called", { organizationId, webhookId, eventId, attempt: attempts, status });
  const answer = {
    lastStatus: status,
    lastError: call.failure?.error,
    lastDurationMs: call.durationMs,
  };
  if (call.failure === undefined) {
    return recordOutcome(webhookId, acquired, { state: "succeeded", ...answer });
  }
  if (status === gone) await disableWebhook(webhook, "gone");
  const nextAttemptAt = status === gone ? undefined : retryAt({ attempts, at: now(), retryAfter });
  if (nextAttemptAt === undefined) {
    return recordOutcome(webhookId, acquired, { state: "failed", ...answer });
  }
  // The next job comes first: a crash in between leaves a surplus job, which the lease makes harmless.
  await queueRetry(webhook, acquired, nextAttemptAt);
  await recordOutcome(webhookId, acquired, { state: "pending", nextAttemptAt, ...answer });
}

async function queueRetry(webhook: WebhookRecord, failed: DeliveryRecord, at: Date): Promise<void> {
  const { organizationId, id: webhookId } = webhook;
  const dueAt = at.toISOString();
  const delaySeconds = secondsUntil(dueAt);
  const { id: deliveryId, attempts } = failed;
  const job = attemptJob(
    { organizationId, webhookId, deliveryId, attempt: attempts + 1, lane: "retry" },
    delaySeconds,
  );
  if (delaySeconds <= maxDelaySeconds) await enqueue(job);
  else await putItem(scheduledJob({ id: `${webhookId}#${deliveryId}`, dueAt }, job));
}
