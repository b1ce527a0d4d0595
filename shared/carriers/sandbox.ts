import * as z from "zod/mini";

import { dayMs, epochSeconds, now, secondMs } from "../platform/clock.ts";
import { isTestId, replyIdOf } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import type { SubmitResult, OutgoingMessage, Carrier } from "./carrier.ts";

/** The sandbox's count of the submissions of each message. */
const SandboxRecord = z.object({ entity: z.literal("sandboxMessage"), calls: z.int() });

const retentionMs = 7 * dayMs;

/** The outcome for a number, by the count of submissions of the same message. Other numbers are accepted. */
type Treatment = "accepted" | "invalid" | "rejected" | "throttled" | "unroutable";
const scenarios: Readonly<Record<string, (calls: number) => Treatment>> = {
  "15005550001": () => "invalid",
  "15005550002": () => "unroutable",
  "15005550003": (calls) => (calls <= 2 ? "throttled" : "accepted"),
  "15005550004": (calls) => (calls <= 2 ? "throttled" : "accepted"),
  "15005550006": () => "rejected",
};

/** The delivery receipts for accepted messages to these numbers, and their delays. There are none for other numbers. */
const receipts: Readonly<Record<string, { readonly delaySeconds: number; readonly receipt: object }>> = {
  "15005550007": { delaySeconds: 1, receipt: { status: "delivered" } },
  "15005550008": {
    delaySeconds: 1,
    receipt: { status: "undelivered", errorCode: "DELIVERY_UNREACHABLE" },
  },
  "15005550009": { delaySeconds: 30, receipt: { status: "delivered" } },
};

/** The number that replies to test messages. */
const replyingNumber = "15005550010";
const replyDelaySeconds = 1;

/**
 * Returns a carrier that sends nothing: the default outside production. It is idempotent: it recognizes a message by
 * its reference.
 * @param name the name in messages and routes
 */
export function sandboxCarrier(name: string): Carrier {
  return { idempotent: true, send: async (message) => sendNothing(name, message) };
}

async function sendNothing(name: string, message: OutgoingMessage): Promise<SubmitResult> {
  const { to, reference } = message;
  const messageId = reference.slice(reference.indexOf(".") + 1);
  const calls = await countCall(messageId);
  const outcome = scenarios[to]?.(calls) ?? "accepted";
  switch (outcome) {
    case "accepted":
      await queueReceipt(name, message);
      await queueReply(message);
      return { outcome, carrierReference: `sandbox-${messageId}` };
    case "throttled":
      return { outcome, providerCode: outcome };
    case "invalid":
      return { outcome: "rejected", errorCode: "MESSAGE_INVALID_DESTINATION", providerCode: outcome };
    case "unroutable":
      return { outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE", providerCode: outcome };
    case "rejected":
      return { outcome: "rejected", errorCode: "MESSAGE_PROVIDER_ERROR", providerCode: outcome };
  }
}

/**
 * Queues the delivery receipt of a message with a delay. The sandbox adds it to the queue itself, as AWS does, in the
 * format that the worker reads.
 */
async function queueReceipt(carrier: string, { to, reference }: OutgoingMessage): Promise<void> {
  const found = receipts[to];
  if (found === undefined) return;
  const { delaySeconds, receipt } = found;
  const [organizationId = "", messageId] = reference.split(".");
  const at = new Date(now().getTime() + delaySeconds * secondMs).toISOString();
  const body = { kind: "receipt", carrier, organizationId, messageId, ...receipt, at };
  await enqueue({ queue: "carrierCallbacks", group: organizationId, body, delaySeconds });
}

/**
 * Queues a reply to a test message with a delay. The sender ID of a live message is no number of an organization, so it has
 * no reply.
 */
async function queueReply({ to, from, reference }: OutgoingMessage): Promise<void> {
  const [organizationId = "", messageId = ""] = reference.split(".");
  if (to !== replyingNumber || !isTestId(messageId)) return;
  const receivedAt = new Date(now().getTime() + replyDelaySeconds * secondMs).toISOString();
  const reply = { id: replyIdOf(messageId), from: to, to: from, message: "Thank you!", receivedAt };
  const body = { kind: "testInbound", organizationId, ...reply };
  await enqueue({ queue: "carrierCallbacks", group: organizationId, body, delaySeconds: replyDelaySeconds });
}

async function countCall(messageId: string): Promise<number> {
  const expiresAt = epochSeconds(new Date(now().getTime() + retentionMs));
  const counted = await updateItem(
    SandboxRecord,
    updateOf(keys.sandboxMessage(messageId), {
      set: { entity: "sandboxMessage", expiresAt },
      add: { calls: 1 },
    }),
  );
  if (!counted.applied) throw new Error("an update without a condition was rejected");
  return counted.item.calls;
}
