import { SendBatchRequest, type AcceptedBatch } from "../../shared/api/contract/batches.ts";
import { entriesOf } from "../../shared/audience/templates/batch.ts";
import { acceptBatch } from "../../shared/messages/accept/accept-batch.ts";
import type { AcceptOptions } from "../../shared/messages/accept/accept-one.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { firstItems } from "../../shared/platform/table/lists.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { hello } from "./messages.ts";
import { organizationOf } from "./wallets.ts";

type Batch = typeof SendBatchRequest._zod.input;

/** A batch of messages to different numbers that the sandbox accepts. */
export function batchOf(count: number): Batch {
  const messages = Array.from({ length: count }, (_, index) => ({ to: String(15_006_000_000 + index) }));
  return { messages, defaults: { message: hello.message, senderId: hello.senderId } };
}

/** Sends a batch without the API. */
export async function sendBatch(
  organizationId: string,
  batch: Batch,
  options?: AcceptOptions,
): Promise<AcceptedBatch> {
  const request = SendBatchRequest.parse(batch);
  const organization = await organizationOf(organizationId);
  return acceptBatch(organization, await entriesOf(organizationId, request), request, options);
}

/** Sends a batch with an Idempotency-Key, as the API does. */
export async function sendOnce(
  organizationId: string,
  batch: Batch,
  key = "batch-1",
): Promise<AcceptedBatch> {
  const { answer } = await once({ organizationId, key, content: batch }, async (attempt) =>
    sendBatch(organizationId, batch, { attempt }),
  );
  // Either the result of the call above, or the same from the table.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return answer as AcceptedBatch;
}

/** The messages of an organization in the table. */
export async function messagesIn(organizationId: string): Promise<MessageRecord[]> {
  const { pk } = messageKey({ organizationId, id: "" });
  return firstItems(MessageRecord, { pk, consistent: true }, 2_000);
}

/** The codes of the rejected messages of a batch, with the positions of each. */
export function rejectionsOf({ results }: AcceptedBatch): Record<string, number[]> {
  const rejected = results.filter(({ code }) => code !== undefined);
  const byCode = Map.groupBy(rejected, ({ code = "" }) => code);
  return Object.fromEntries([...byCode].map(([code, each]) => [code, each.map(({ index }) => index)]));
}
