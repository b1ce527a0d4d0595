import type { InboundMessage, TestInboundRequest } from "../../api/contract/inbound.ts";
import { now } from "../../platform/clock.ts";
import { newTestId, testMarkOf } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { countTestMessage } from "../message/test-messages.ts";
import { keywordOf } from "../numbers/keywords.ts";
import { testInboundJob } from "./inbound-message-job.ts";

/**
 * Simulates an inbound message of an organization. It is queued, as messages from carriers are.
 * @throws ApiError TEST_LIMIT_REACHED
 * @returns the message as it will be stored
 */
export async function simulateInbound(
  organizationId: string,
  { from, to, message }: TestInboundRequest,
): Promise<InboundMessage> {
  await countTestMessage(organizationId);
  const inbound = { id: newTestId("inb"), from, to, message, receivedAt: now().toISOString() };
  await enqueue(testInboundJob({ organizationId, ...inbound }));
  return { ...inbound, keyword: keywordOf(message), ...testMarkOf(inbound.id) };
}
