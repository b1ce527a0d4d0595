import type { WebhookEvent } from "../../api/contract/events.ts";
import { eventJob } from "../../notices/event-job.ts";
import { testMarkOf } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import type { OrganizationState } from "../../tenancy/organizations/record.ts";
import { addSent } from "../inbound/conversations.ts";
import { refundJob } from "../message/message-job.ts";
import { eventDetailsOf, redactedText, type MessageRecord } from "../message/record.ts";

/** Queues the refund and the event of a final state. A repetition changes nothing, apart from repeating the event. */
export async function publishOutcome(
  message: MessageRecord,
  { hasWebhooks }: OrganizationState,
): Promise<void> {
  if (message.refund === "due") {
    // The sender has access to the internet and none to wallets. Another function returns the money.
    await enqueue(refundJob(message));
  }
  await addSent(message);
  // Most customers have no webhook, and a job for the dispatcher is a sixth of a message's cost.
  const { organizationId, callbackUrl } = message;
  const event = hasWebhooks || callbackUrl !== undefined ? eventOf(message) : undefined;
  if (event !== undefined) await enqueue(eventJob(organizationId, event, callbackUrl));
}

/** Returns the event for the customer; none for a message that was cancelled or whose number was erased. */
function eventOf(message: MessageRecord): WebhookEvent | undefined {
  const { id, to, status, sentAt, failedAt, errorCode } = message;
  const mark = { ...eventDetailsOf(message), ...testMarkOf(id) };
  if (to === redactedText) return undefined;
  if (status === "sent" && sentAt !== undefined) {
    return { event: "message.sent", timestamp: sentAt, data: { id, to, status, ...mark } };
  }
  if (status === "failed" && failedAt !== undefined && errorCode !== undefined) {
    return { event: "message.failed", timestamp: failedAt, data: { id, to, errorCode, ...mark } };
  }
  if (status === "cancelled") return undefined;
  throw new Error(`message ${id} has no final state`);
}
