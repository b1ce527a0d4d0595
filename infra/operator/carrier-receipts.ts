import { setTimeout } from "node:timers/promises";

import type { CarrierRecord } from "../../shared/carriers/record.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { testExpiry } from "../../shared/messages/message/test-messages.ts";
import { minuteMs, now, secondMs } from "../../shared/platform/clock.ts";
import { newTestId } from "../../shared/platform/ids.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { insertOf, putItem } from "../../shared/platform/table/write.ts";

/** No organization has this id. */
const testOrganizationId = `org_${"0".repeat(26)}`;

const pollMs = 500;

/** A message of the operator, which no customer sees and nothing counts, so that its receipt can be read. */
export class TestedMessage {
  readonly #id = newTestId("msg");
  readonly #key = messageKey({ organizationId: testOrganizationId, id: this.#id });
  readonly reference = `${testOrganizationId}.${this.#id}`;

  /** Stores the message without its number and text. */
  async store(
    carrier: string,
    { from, encoding }: Pick<MessageRecord, "encoding"> & { from: string },
  ): Promise<void> {
    const queuedAt = now().toISOString();
    const record: MessageRecord = {
      entity: "message",
      id: this.#id,
      organizationId: testOrganizationId,
      status: "sent",
      to: "",
      message: "",
      senderId: from,
      language: "English",
      encoding,
      segments: 1,
      unitPriceMicros: 0,
      totalMicros: 0,
      queuedAt,
      attempts: 1,
      unresolvedAttempts: 0,
      carrier,
      expiresAt: testExpiry(queuedAt),
    };
    await putItem(insertOf(this.#key, record));
  }

  /** Waits for the final receipt, and describes it. */
  async receipt({ updatedAt }: CarrierRecord, seconds: number): Promise<string> {
    const until = performance.now() + seconds * secondMs;
    while (performance.now() < until) {
      const found = await findItem(MessageRecord, this.#key, { consistent: true });
      const { deliveryStatus, deliveryErrorCode = "", deliveryProviderCode = "" } = found ?? {};
      if (deliveryStatus !== undefined)
        return [deliveryStatus, deliveryErrorCode, deliveryProviderCode].filter(Boolean).join(" ");
      await setTimeout(pollMs);
    }
    const isNew = now().getTime() - Date.parse(updatedAt) < minuteMs;
    return `none within ${seconds} seconds${isNew ? ". Repeat the test once its settings apply, in a minute" : ""}`;
  }
}
