import type { MessageRecord } from "../messages/message/record.ts";
import { secondMs } from "../platform/clock.ts";
import { isTestId, momentOf } from "../platform/ids.ts";
import { noteUndelivered } from "./guard/guard.ts";

/** A code is never sent again earlier than this, so an earlier message is the first one of its verification. */
const firstSendMs = 30 * secondMs;

/**
 * Notes the verifications whose first message just failed or was not delivered: they prove no fraud.
 * @param messages those that just ended, or that just got a receipt
 */
export async function noteUndeliveredOf(messages: readonly MessageRecord[]): Promise<void> {
  const verifications = messages.flatMap(
    ({ id, organizationId, to, status, deliveryStatus, verificationId }) => {
      if (status !== "failed" && deliveryStatus !== "undelivered") return [];
      if (verificationId === undefined || isTestId(verificationId)) return [];
      const startedAt = momentOf(verificationId);
      return momentOf(id).getTime() - startedAt.getTime() < firstSendMs
        ? [{ id: verificationId, organizationId, to, startedAt }]
        : [];
    },
  );
  await Promise.all(verifications.map(noteUndelivered));
}
