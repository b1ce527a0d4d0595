import { expect, it, vi } from "vitest";

import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { carrierTimeoutMs } from "../../shared/messages/send/submit-to-carrier.ts";
import { GetCommand } from "../../shared/platform/aws/dynamodb.ts";
import { deleteWebhook } from "../../shared/webhooks/webhooks.ts";
import { accept, only, ScriptedCarrier, reject, throttle } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { hastenTimers } from "../support/hastened-timers.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf, sendFor } from "../support/messages.ts";
import { patience } from "../support/patience.ts";
import { takeJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

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
  const carrier = new ScriptedCarrier(reject);
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
    expect(await statusOf(await sendFor(organizationId))).toBe("sent");
    return (await takeJobs("webhookDeliveries")).length;
  };
  expect(await events()).toBe(0);
  const { id } = await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  expect(await events()).toBe(1);
  await deleteWebhook(ownerOf(organizationId), id);
  expect(await events()).toBe(0);
});

it("a message that was throttled five times is submitted again when the carrier's response is lost", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier((call) => {
    if (call === 6) throw new Error("the response was lost");
    return call < 6 ? throttle() : accept();
  });
  for (let call = 1; call <= 5; call += 1) await submitMessage(job, only(carrier));
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  advance(121_000);
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
  const slow = new ScriptedCarrier(async () => {
    advance(121_000);
    await submitMessage(job, only());
    return reject();
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
  advance(600_000);
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("sent");
});

it("a carrier that never responds is abandoned, and its message stays safe", async () => {
  const job = await acceptedMessage();
  const carrier = new ScriptedCarrier(async () => new Promise(() => undefined));
  const limits = hastenTimers();
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  expect(limits).toContain(carrierTimeoutMs);
  expect(await statusOf(job)).toBe("queued");
});
