import * as z from "zod/mini";

import { sandboxNumbers } from "../api/contract/sandbox-numbers.ts";
import { dayMs, epochSeconds, now, secondMs } from "../platform/clock.ts";
import { isTestId, replyIdOf } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import type { SubmitResult, OutgoingMessage } from "./carrier.ts";
import { NoCredentials } from "./credentials.ts";
import type { CarrierCallbacks, CarrierCalls } from "./kind.ts";
import type { SettingsOf } from "./settings.ts";

/** The sandbox's count of the submissions of each message. */
export const SandboxRecord = z.object({ entity: z.literal("sandboxMessage"), calls: z.int() });

const retentionMs = 7 * dayMs;

/** Sends nothing: the default outside production. It recognizes a message by its reference. */
export const sandboxCalls = {
  credentials: NoCredentials,
  isIdempotent: () => true,
  submit: async ({ name }, message) => sendNothing(name, message),
} satisfies CarrierCalls<SettingsOf<"sandbox">>;

export const sandboxCallbacks = { receiptsPerSegment: 0 } satisfies CarrierCallbacks<SettingsOf<"sandbox">>;

async function sendNothing(name: string, message: OutgoingMessage): Promise<SubmitResult> {
  const { to, reference } = message;
  const messageId = reference.slice(reference.indexOf(".") + 1);
  const calls = await countCall(messageId);
  const { rejection, throttledTimes = 0 } = sandboxNumbers[to] ?? {};
  if (rejection !== undefined) return { outcome: "rejected", ...rejection };
  if (calls <= throttledTimes) return { outcome: "throttled", providerCode: "throttled" };
  await queueReceipt(name, message);
  await queueReply(message);
  return { outcome: "accepted", carrierReference: `sandbox-${messageId}` };
}

/**
 * Queues the delivery receipt of a message with a delay. The sandbox adds it to the queue itself, as AWS does, in the
 * format that the worker reads.
 */
async function queueReceipt(carrier: string, { to, reference }: OutgoingMessage): Promise<void> {
  const found = sandboxNumbers[to]?.receipt;
  if (found === undefined) return;
  const { delaySeconds, ...receipt } = found;
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
  const found = sandboxNumbers[to]?.reply;
  if (found === undefined || !isTestId(messageId)) return;
  const { delaySeconds, message } = found;
  const receivedAt = new Date(now().getTime() + delaySeconds * secondMs).toISOString();
  const reply = { id: replyIdOf(messageId), from: to, to: from, message, receivedAt };
  const body = { kind: "testInbound", organizationId, ...reply };
  await enqueue({ queue: "carrierCallbacks", group: organizationId, body, delaySeconds });
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
