import { ApiError } from "../../api/contract/errors.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import type { Prices } from "../../money/prices/prices.ts";
import { viewerOf, type Actor } from "../../platform/auth/actor.ts";
import { dayMs, epochSeconds } from "../../platform/clock.ts";
import { newTestId } from "../../platform/ids.ts";
import { owedJob } from "../../platform/jobs/scheduled-job.ts";
import { consumeToday, dailyLimitReached, reserveToday } from "../../platform/limits/daily.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { tryTransact } from "../../platform/table/transact.ts";
import { insertOf, type Write } from "../../platform/table/write.ts";
import { sendJob, waitingJob, waitsInTable } from "./message-job.ts";
import type { MessageRecord } from "./record.ts";

/*
 * Test messages, from test keys and from people who request one. They have the records, jobs, transitions and events of
 * other messages. Their ids end with a mark, and their partition is separate. Code that lists, counts, bills or reconciles
 * messages therefore never reads them. They are neither paid nor refunded, and the sandbox is their only carrier
 * (`test-sender.ts`).
 */

/** The bound of an organization's test messages, outbound and inbound together: each causes writes and webhook calls. */
const dailyLimit = { name: "test-messages", max: 1_000, code: "TEST_LIMIT_REACHED" } as const;

/** How long a test message is kept after it was due. */
const retentionMs = 7 * dayMs;

/**
 * Whether a request sends a test message. A test key sends nothing else. A live key never sends one, because it could use up
 * the day's test messages, outside of its own limits.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function isTestRequest(actor: Actor | undefined, { test }: Pick<SendSmsRequest, "test">): boolean {
  if (actor !== undefined && viewerOf(actor).isTest) return true;
  if (test === true && actor?.credential.type === "apiKey") {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "A live API key cannot send test messages. Use a test key, or log in.",
    });
  }
  return test === true;
}

/** Returns when the table deletes a test message, in seconds since the epoch. @param dueAt ISO 8601 */
export function testExpiry(dueAt: string): number {
  return epochSeconds(new Date(Date.parse(dueAt) + retentionMs));
}

/** Counts a test message of an organization. @throws ApiError TEST_LIMIT_REACHED */
export async function countTestMessage(organizationId: string): Promise<void> {
  await consumeToday(dailyLimit, organizationId);
}

/** Returns the prices that test messages show: those of live messages, and 0 for a destination without a price. */
export function testPrices({ unitPriceMicros }: Prices): Prices {
  return { unitPriceMicros: (to) => unitPriceMicros(to) ?? 0 };
}

/** Returns a new message as a test message. */
export function asTestMessage(message: MessageRecord): MessageRecord {
  return { ...message, id: newTestId("msg"), expiresAt: testExpiry(message.scheduledAt ?? message.queuedAt) };
}

/**
 * Records test messages of an organization together with the writes of the caller. The same transaction stores their jobs for
 * later: no reconciler looks for a test message whose job was lost.
 * @throws ApiError TEST_LIMIT_REACHED; UNAVAILABLE when nothing was recorded
 */
export async function recordTestMessages(
  messages: readonly MessageRecord[],
  together: readonly Write[],
): Promise<void> {
  const reserved = await reserveToday(dailyLimit, messages[0]?.organizationId ?? "", messages.length);
  if ("left" in reserved) throw dailyLimitReached(dailyLimit);
  const recorded = await tryTransact({
    messages: messages.map((message) => insertOf(messageKey(message), message)),
    waiting: messages.filter(waitsInTable).map(waitingJob),
    owed: messages.map((message) =>
      owedJob(`send#${message.id}`, sendJob(message), new Date(message.scheduledAt ?? message.queuedAt)),
    ),
    together,
  });
  if (recorded.outcome === "committed") return;
  await reserved.release();
  throw new ApiError("UNAVAILABLE");
}
