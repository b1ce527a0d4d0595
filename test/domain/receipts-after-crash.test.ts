import { describe, expect, it } from "vitest";

import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import type { FinalDelivery } from "../../shared/messages/message/record.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { accept, inOrder, ScriptedCarrier, named, reject, loseResponse } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptedMessage, recordOf, statusOf } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { putOrganization } from "../support/wallets.ts";

describe("after a sender died during the submission, a receipt", () => {
  const rateCard = new RateCard(
    documentOf([{ prefix: "1", priceMicros: 1, costMicros: { alpha: 5, beta: 7, aws: 9 } }]),
  );

  /** A message whose sender is lost, and whose receipt arrives half a minute later. */
  async function reported(
    carrier: string,
    { status = "delivered", of }: { status?: FinalDelivery; of?: string | undefined } = { of: carrier },
    idempotent = false,
  ) {
    const job = await acceptedMessage();
    const scripted = new ScriptedCarrier(loseResponse, idempotent);
    const sender = inOrder(named({ [carrier]: scripted }), { rateCard });
    await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
    advance(30_000);
    const reportedAt = new Date().toISOString();
    await recordDeliveryReceipt({ ...job, carrier: of, status, at: reportedAt });
    await takeJobs("webhookDeliveries");
    advance(90_000);
    return { job, scripted, sender, reportedAt };
  }

  it.each(
    (["unknown", "delivered"] as const).flatMap((status) =>
      [true, false].map((idempotent) => [status, idempotent] as const),
    ),
  )(
    "(%s) confirms that it was sent, and no carrier gets it again, whether or not it is idempotent (%s)",
    async (status, idempotent) => {
      const { job, scripted, sender, reportedAt } = await reported(
        "alpha",
        { status, of: "alpha" },
        idempotent,
      );
      const ended = await submitMessage(job, sender);
      // It counts as sent.
      expect(ended).toMatchObject({ id: job.messageId, status: "sent" });
      expect(await recordOf(job)).toMatchObject({
        status: "sent",
        sentAt: reportedAt,
        deliveryStatus: status,
        carrier: "alpha",
        costMicros: 5,
      });
      expect(scripted.received).toHaveLength(1);
      expect(await takeJobs("webhookDeliveries")).toMatchObject([{ event: { event: "message.sent" } }]);
      expect(await takeJobs("refunds")).toEqual([]);
      expect((await readWallet(job.organizationId)).balanceMicros).toBe(1_000_000 - 7_900);
    },
  );

  describe("of undelivered, which carriers also report for rejected messages,", () => {
    /** A message that a carrier rejected and reported as undelivered. Its sender died before it recorded the rejection. */
    async function refusedAndReported(idempotent: boolean, then: () => SubmitResult = reject) {
      const job = await acceptedMessage();
      const alpha = new ScriptedCarrier((call) => (call === 1 ? loseResponse() : then()), idempotent);
      const beta = new ScriptedCarrier(accept);
      const sender = inOrder(named({ alpha, beta }));
      await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
      await recordDeliveryReceipt({
        ...job,
        carrier: "alpha",
        status: "undelivered",
        at: new Date().toISOString(),
      });
      advance(121_000);
      const ended = await submitMessage(job, sender);
      const [refund] = await takeJobs("refunds");
      if (refund !== undefined) await refundMessage(MessageJob.parse(refund));
      const { balanceMicros } = await readWallet(job.organizationId);
      return { job, ended, asked: [alpha.received.length, beta.received.length], balanceMicros };
    }

    it("does not make it sent: it fails, its price is returned once, and no carrier gets it", async () => {
      const { job, ended, asked, balanceMicros } = await refusedAndReported(false);
      expect(ended).toMatchObject({ status: "failed", errorCode: "MESSAGE_OUTCOME_UNKNOWN", refund: "due" });
      expect(await recordOf(job)).toMatchObject({ status: "failed", refund: "done", carrier: "alpha" });
      expect([asked, balanceMicros]).toEqual([[1, 0], 1_000_000]);
    });

    it("lets an idempotent carrier reject the message again", async () => {
      const { job, asked, balanceMicros } = await refusedAndReported(true);
      expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
      expect([asked, balanceMicros]).toEqual([[2, 0], 1_000_000]);
    });

    it("lets an idempotent carrier accept the message", async () => {
      const { job, asked, balanceMicros } = await refusedAndReported(true, accept);
      expect(await statusOf(job)).toBe("sent");
      expect([asked, balanceMicros]).toEqual([[2, 0], 1_000_000 - 7_900]);
    });
  });

  it("that only AWS's account can have caused confirms the message too", async () => {
    const { job, sender } = await reported("aws", { of: undefined });
    await submitMessage(job, sender);
    expect(await recordOf(job)).toMatchObject({ status: "sent", costMicros: 9 });
  });

  it("confirms a message of an organization that was suspended since", async () => {
    const { job, sender } = await reported("alpha");
    await putOrganization(job.organizationId, { suspendedAt: new Date().toISOString() });
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe("sent");
  });

  it("confirms nothing when it is from an earlier carrier that rejected the message", async () => {
    const job = await acceptedMessage();
    const refusing = new ScriptedCarrier(async () => {
      // The carrier notifies of its rejection in both ways.
      await recordDeliveryReceipt({
        ...job,
        carrier: "alpha",
        status: "undelivered",
        at: new Date().toISOString(),
      });
      return { outcome: "rejected", errorCode: "MESSAGE_PROVIDER_ERROR" };
    });
    const route = named({ alpha: refusing, beta: new ScriptedCarrier(loseResponse, false) });
    await expect(submitMessage(job, inOrder(route))).rejects.toThrow("what the carrier did is not known");
    expect(await recordOf(job)).toMatchObject({ carrier: "beta", deliveryStatus: "undelivered" });
    advance(121_000);
    await submitMessage(job, inOrder(route));
    expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  });

  it("confirms nothing for a message that was never submitted", async () => {
    const job = await acceptedMessage();
    await recordDeliveryReceipt({
      ...job,
      carrier: "alpha",
      status: "delivered",
      at: new Date().toISOString(),
    });
    const carrier = new ScriptedCarrier(accept);
    await submitMessage(job, inOrder(named({ alpha: carrier })));
    expect(carrier.received).toHaveLength(1);
    expect(await statusOf(job)).toBe("sent");
  });
});
