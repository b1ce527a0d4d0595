import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import type { FinalDelivery } from "../../shared/messages/message/record.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { deleteWebhook } from "../../shared/webhooks/webhooks.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { accept, inOrder, only, ScriptedCarrier } from "../support/carriers.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf } from "../support/messages.ts";
import { patience } from "../support/patience.ts";
import { takeJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await takeJobs("refunds");
  await takeJobs("webhookDeliveries");
});

it("a job that arrives five times in parallel submits its message once", async () => {
  const job = await acceptedMessage();
  let letAnswer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letAnswer = resolve;
  });
  // The carrier responds only after the other four have met the first one's lease.
  const carrier = new ScriptedCarrier(async () => {
    await held;
    return accept();
  });
  const first = submitMessage(job, only(carrier));
  await vi.waitFor(() => expect(carrier.received).toHaveLength(1), patience);
  const others = await Promise.allSettled(
    Array.from({ length: 4 }, async () => submitMessage(job, only(carrier))),
  );
  letAnswer();
  await first;
  expect(carrier.received).toEqual([
    {
      reference: `${job.organizationId}.${job.messageId}`,
      to: "15005550000",
      country: "US",
      from: "ACME",
      text: "hello",
      encoding: "GSM-7",
      isPromotional: false,
    },
  ]);
  expect(await statusOf(job)).toBe("sent");
  // Their jobs are retried, in case the holder of the lease dies.
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set(["rejected"]));
});

it("a job that is repeated after the end repeats only the follow-up work, and submits nothing", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier(() => ({ outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" }));
  await submitMessage(job, only(carrier));
  await takeJobs("refunds");
  const events = await takeJobs("webhookDeliveries");
  expect(events).toHaveLength(1);
  await submitMessage(job, only(carrier));
  expect(carrier.received).toHaveLength(1);
  expect(await takeJobs("refunds")).toEqual([job]);
  expect(await takeJobs("webhookDeliveries")).toEqual(events);
});

it("the event of a message is queued while its organization has a webhook", async () => {
  const organizationId = await openWallet(1_000_000);
  const events = async (): Promise<number> => {
    const message = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;
    const { id: messageId } = await acceptMessage(organizationId, message);
    const ended = await submitMessage({ organizationId, messageId }, only(new ScriptedCarrier(accept)));
    expect(ended?.status).toBe("sent");
    return (await takeJobs("webhookDeliveries")).length;
  };
  expect(await events()).toBe(0);
  const { id } = await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  expect(await events()).toBe(1);
  await deleteWebhook(ownerOf(organizationId), id);
  expect(await events()).toBe(0);
  await takeJobs("transactionalSends");
});

it("the price of a failed message is returned once, however many times its refund is requested", async () => {
  const job = await acceptedMessage();
  await submitMessage(
    job,
    only(new ScriptedCarrier(() => ({ outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" }))),
  );
  expect((await readWallet(job.organizationId)).balanceMicros).toBe(1_000_000 - 7_900);
  await Promise.all(Array.from({ length: 5 }, async () => refundMessage(job)));
  await refundMessage(job);
  const wallet = await readWallet(job.organizationId);
  expect(wallet).toMatchObject({ balanceMicros: 1_000_000, seq: 3 });
});

it("a sent message is not refunded", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, only(new ScriptedCarrier(accept)));
  await refundMessage(job);
  expect((await readWallet(job.organizationId)).balanceMicros).toBe(1_000_000 - 7_900);
});

it("a message that was throttled five times is submitted again when the carrier's response is lost", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier((call) => {
    if (call === 6) throw new Error("the response was lost");
    return call < 6 ? { outcome: "throttled" } : accept();
  });
  for (let call = 1; call <= 5; call += 1) await submitMessage(job, only(carrier));
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("sent");
});

it("another sender follows one that died during a submission, when its lease lapses", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier((call) => {
    if (call === 1) throw new Error("connection reset");
    return accept();
  });
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("another sender holds this message");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("sent");
  expect(carrier.received).toHaveLength(2);
});

it("a carrier that is not idempotent never gets a message again after an unknown outcome", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier(() => {
    throw new Error("time-out");
  }, false);
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
  await submitMessage(job, only(carrier));
  expect(carrier.received).toHaveLength(1);
  expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  expect(await takeJobs("refunds")).toEqual([job]);
});

describe("after a sender died during the submission, a receipt", () => {
  const breakConnection = (): never => {
    throw new Error("connection reset");
  };
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
    const scripted = new ScriptedCarrier(breakConnection, idempotent);
    const sender = inOrder([{ name: carrier, carrier: scripted }], { rateCard });
    await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 30_000 });
    const reportedAt = new Date().toISOString();
    await recordDeliveryReceipt({ ...job, carrier: of, status, at: reportedAt });
    await takeJobs("webhookDeliveries");
    vi.setSystemTime(Date.now() + 90_000);
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
    const refuse = (): SubmitResult => ({ outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" });

    /** A message that a carrier rejected and reported as undelivered. Its sender died before it recorded the rejection. */
    async function refusedAndReported(idempotent: boolean, then: () => SubmitResult = refuse) {
      const job = await acceptedMessage();
      const alpha = new ScriptedCarrier((call) => (call === 1 ? breakConnection() : then()), idempotent);
      const beta = new ScriptedCarrier(accept);
      const sender = inOrder([
        { name: "alpha", carrier: alpha },
        { name: "beta", carrier: beta },
      ]);
      await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
      await recordDeliveryReceipt({
        ...job,
        carrier: "alpha",
        status: "undelivered",
        at: new Date().toISOString(),
      });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
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
    const organization = { entity: "organization", id: job.organizationId, name: "ACME" } as const;
    const at = new Date().toISOString();
    await putItem(
      putOf(keys.organization(job.organizationId), { ...organization, createdAt: at, suspendedAt: at }),
    );
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
    const route = [
      { name: "alpha", carrier: refusing },
      { name: "beta", carrier: new ScriptedCarrier(breakConnection, false) },
    ];
    await expect(submitMessage(job, inOrder(route))).rejects.toThrow("what the carrier did is not known");
    expect(await recordOf(job)).toMatchObject({ carrier: "beta", deliveryStatus: "undelivered" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
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
    await submitMessage(job, inOrder([{ name: "alpha", carrier }]));
    expect(carrier.received).toHaveLength(1);
    expect(await statusOf(job)).toBe("sent");
  });
});

it("a carrier that is not idempotent gets a message again that it definitely did not accept", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier((call) => (call === 1 ? { outcome: "throttled" } : accept()), false);
  await submitMessage(job, only(carrier));
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("sent");
});

it("a throttled message does not fail because its release is not visible yet", async () => {
  const job = await acceptedMessage();
  let held: unknown;
  const carrier = new ScriptedCarrier(async (call) => {
    if (call > 1) return accept();
    held = await recordOf(job);
    return { outcome: "throttled" };
  }, false);
  const later = await laterJobOf(job, only(carrier));
  // An eventually consistent read may return the message as it was while the first sender held it.
  let isOld = true;
  interceptTableRequests(async (command, send) => {
    const isRead = command instanceof GetCommand && command.input.Key?.["sk"] === job.messageId;
    if (!isRead || !isOld || command.input.ConsistentRead === true) return send();
    isOld = false;
    return { Item: held };
  });
  const again = await laterJobOf(later, only(carrier));
  expect(isOld).toBe(false);
  expect(await recordOf(job)).toMatchObject({ status: "queued", unresolvedAttempts: 0 });
  await submitMessage(again, only(carrier));
  expect(await statusOf(job)).toBe("sent");
  expect(carrier.received).toHaveLength(2);
});

it("a sender whose lease lapsed during the submission does not overwrite the next one's result", async () => {
  const job = await acceptedMessage();
  const start = Date.now();
  const slow = new ScriptedCarrier(async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: start + 121_000 });
    await submitMessage(job, only(new ScriptedCarrier(accept)));
    return { outcome: "rejected", errorCode: "MESSAGE_PROVIDER_ERROR" };
  });
  await expect(submitMessage(job, only(slow))).rejects.toThrow("lapsed");
  expect(await statusOf(job)).toBe("sent");
});

it("a scheduled message whose job arrives early continues to wait", async () => {
  const scheduledAt = new Date(Date.now() + 600_000).toISOString();
  const job = await acceptedMessage({ scheduledAt });
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(job, only(carrier));
  expect(carrier.received).toHaveLength(0);
  expect(await statusOf(job)).toBe("queued");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 600_000 });
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("sent");
});

it("a job whose message does not exist is dropped", async () => {
  const carrier = new ScriptedCarrier(accept);
  await submitMessage({ organizationId: "org_x", messageId: "msg_x" }, only(carrier));
  expect(carrier.received).toHaveLength(0);
});

it("a carrier that fails in every attempt, with a secret in its error, leads to a safe code and a refund", async () => {
  const job = await acceptedMessage();
  const secret = "Authorization: Basic c2VjcmV0";
  const carrier = new ScriptedCarrier(() => {
    throw new Error(secret);
  });
  const logged = vi.spyOn(process.stdout, "write");
  const start = Date.now();
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
    vi.useFakeTimers({ toFake: ["Date"], now: start + attempt * 121_000 });
  }
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  expect(await takeJobs("refunds")).toEqual([job]);
  const seenByCustomer = JSON.stringify([
    await getMessage(ownerOf(job.organizationId), job.messageId),
    await takeJobs("webhookDeliveries"),
  ]);
  expect(seenByCustomer).toContain("MESSAGE_OUTCOME_UNKNOWN");
  expect(seenByCustomer).not.toContain(secret);
  expect(JSON.stringify(logged.mock.calls)).not.toContain(secret);
  logged.mockRestore();
});

it("a carrier that never responds is abandoned, and its message stays safe", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier(async () => new Promise(() => undefined));
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  expect(await statusOf(job)).toBe("queued");
});
