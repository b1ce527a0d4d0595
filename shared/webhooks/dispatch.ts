import { dayMs, now } from "../platform/clock.ts";
import { dueJob } from "../platform/due-jobs.ts";
import { log } from "../platform/log.ts";
import { enqueue, maxDelaySeconds, secondsUntil } from "../platform/queue.ts";
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
import { closeCall, openCall, waitForFirstTry } from "./open-calls.ts";
import { retryAt } from "./schedule.ts";

/** An endpoint that has not taken a single call for so long is disabled. */
const maxFailingMs = 5 * dayMs;

/** The status that asks not to be called again (RFC 9110, 15.5.11). */
const gone = 410;

type EventJob = Extract<WebhookJob, { kind: "event" }>;
type Attempt = Omit<Extract<WebhookJob, { kind: "attempt" }>, "kind">;

/**
 * Hands an event out to the endpoints that subscribe to it, or makes an attempt to deliver it to one of them.
 * What an endpoint does, or does not, is noted and never an error of the job.
 * @throws Error when the job has to come again: another dispatcher makes the attempt, or a write failed
 */
export async function dispatchWebhook(job: WebhookJob): Promise<void> {
  if (job.kind === "event") await handOut(job);
  else await makeAttempt(job);
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
  const pending = deliveries.filter(({ delivery }) => delivery.state === "pending");
  await Promise.all(
    pending.map(async ({ webhookId, delivery: { id: deliveryId } }) =>
      queueFirstTry({ organizationId, webhookId, deliveryId, attempt: 1, lane: "first", putOff: 0 }),
    ),
  );
}

/** Queues a first try, on the lane of retries already where it would only be sent there from the other. */
async function queueFirstTry(attempt: Attempt): Promise<void> {
  const comeBackSeconds = await waitForFirstTry(attempt.webhookId);
  if (comeBackSeconds === undefined) await enqueue(laneQueues.first, attemptJob(attempt));
  else await putOff(attempt, comeBackSeconds);
}

async function makeAttempt(attempt: Attempt): Promise<void> {
  const { organizationId, webhookId, deliveryId, lane } = attempt;
  const open = await openCall(webhookId, lane);
  if ("comeBackSeconds" in open) return putOff(attempt, open.comeBackSeconds);
  let webhook: WebhookRecord | undefined;
  let outcome: "failed" | "succeeded" | undefined;
  let failingSince: Date | undefined;
  try {
    webhook = await readWebhook(organizationId, webhookId);
    if (webhook === undefined) return;
    if (webhook.disabledAt !== undefined) return await giveUp(webhookId, deliveryId);
    const claimed = await claimAttempt(attempt);
    if (claimed !== undefined) outcome = await callAndSettle(webhook, claimed);
  } finally {
    failingSince = await closeCall(open, outcome);
  }
  if (outcome !== "failed" || failingSince === undefined) return;
  if (now().getTime() - failingSince.getTime() >= maxFailingMs) await disableWebhook(webhook, "failing");
}

/** Lets a job come again on the lane of retries, each time after twice as long. */
async function putOff(attempt: Attempt, firstSeconds: number): Promise<void> {
  const longestSeconds = Math.min(maxDelaySeconds, firstSeconds * 2 ** attempt.putOff);
  const delaySeconds = Math.ceil((longestSeconds * (1 + Math.random())) / 2);
  const later = attemptJob({ ...attempt, lane: "retry", putOff: attempt.putOff + 1 });
  await enqueue(laneQueues.retry, { ...later, delaySeconds });
}

async function callAndSettle(
  webhook: WebhookRecord,
  claimed: DeliveryRecord,
): Promise<"failed" | "succeeded"> {
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
