import { expect, it, vi } from "vitest";

import {
  resumeOrganization,
  setSendingPaused,
  suspendOrganization,
} from "../../shared/accounts/organizations/suspension.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { messageIdIn, only, accept, loseResponse, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, priceMicros } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, putOrganization } from "../support/wallets.ts";

/** The ids of the messages that a carrier has received. */
const idsIn = ({ received }: ScriptedCarrier): string[] =>
  received.map(({ reference }) => messageIdIn(reference));

/** The error code of a stop, the stop itself, and its end. */
const stops = [
  [
    "ORGANIZATION_SUSPENDED",
    async (id: string) => suspendOrganization(id, "Fraud"),
    async (id: string) => resumeOrganization(id),
  ],
  [
    "SENDING_PAUSED",
    async (id: string) => setSendingPaused(id, true),
    async (id: string) => setSendingPaused(id, false),
  ],
] as const;

/** Accepts a message for now. @returns its job as it is on the queue, with the facts that spare a read */
async function sendNow(organizationId: string): Promise<MessageJob> {
  await acceptFor(organizationId);
  const job = MessageJob.parse((await takeJobs("transactionalSends")).at(-1));
  expect(job.facts).toBeDefined();
  return job;
}

const sendLater = async (organizationId: string): Promise<MessageJob> =>
  acceptFor(organizationId, { scheduledAt: new Date(Date.now() + 10 * minuteMs).toISOString() });

it.each(
  stops.flatMap(([code, stop]) => [
    ["scheduled", code, stop, sendLater] as const,
    ["queued", code, stop, sendNow] as const,
  ]),
)(
  "a %s message fails with %s and is refunded once, and its event is published",
  async (_, code, stop, acceptOne) => {
    const organizationId = await openOrganization(1_000_000, { webhookCount: 1 });
    const job = await acceptOne(organizationId);
    await stop(organizationId);
    advance(11 * minuteMs);

    const carrier = new ScriptedCarrier(accept);
    const ended = await submitMessage(job, only(carrier));
    expect(carrier.received).toEqual([]);
    expect(ended).toMatchObject({ status: "failed", errorCode: code });
    const { messageId } = job;
    expect(await takeJobs("refunds")).toEqual([{ organizationId, messageId }]);
    expect(JSON.stringify(await takeJobs("webhookDeliveries"))).toContain(`"errorCode":"${code}"`);

    await Promise.all([refundMessage(job), refundMessage(job)]);
    expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 1_000_000, seq: 3 });
  },
);

it("a message that a carrier may have accepted before the suspension fails with an unknown outcome", async () => {
  const organizationId = await openOrganization(1_000_000, { webhookCount: 1 });
  const job = await acceptFor(organizationId);
  await expect(submitMessage(job, only(new ScriptedCarrier(loseResponse)))).rejects.toThrow(
    "what the carrier did is not known",
  );
  await suspendOrganization(organizationId, "Fraud");
  advance(2 * minuteMs);
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(job, only(carrier));
  expect(carrier.received).toEqual([]);
  expect(await getMessage(ownerOf(organizationId), job.messageId)).toMatchObject({
    status: "failed",
    errorCode: "MESSAGE_OUTCOME_UNKNOWN",
  });
});

it("a suspended organization sends again once it is resumed, and failed messages stay failed", async () => {
  const organizationId = await openOrganization(1_000_000, { webhookCount: 1 });
  const before = await acceptFor(organizationId);
  const first = await suspendOrganization(organizationId, "Fraud");
  expect(first).toMatchObject({ suspendedReason: "Fraud" });
  // The time and the reason of the first suspension stay.
  expect(await suspendOrganization(organizationId, "Again")).toEqual(first);
  await expect(acceptFor(organizationId)).rejects.toMatchObject({ code: "ORGANIZATION_SUSPENDED" });
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(before, only(carrier));

  const resumed = await resumeOrganization(organizationId);
  expect([resumed.suspendedAt, resumed.suspendedReason]).toEqual([undefined, undefined]);
  expect(await resumeOrganization(organizationId)).toEqual(resumed);
  const after = await acceptFor(organizationId);
  await submitMessage(before, only(carrier));
  await submitMessage(after, only(carrier));
  expect(idsIn(carrier)).toEqual([after.messageId]);
  expect((await getMessage(ownerOf(organizationId), before.messageId)).status).toBe("failed");
});

it("continuous sends neither prevent a suspension nor get past it, and the money adds up", async () => {
  const organizationId = await openOrganization(10_000_000);
  const accepted: MessageJob[] = [];
  const refusals: unknown[] = [];
  const sendUntilRefused = async (): Promise<void> => {
    for (;;) {
      try {
        accepted.push(await acceptFor(organizationId));
      } catch (error) {
        refusals.push(error);
        return;
      }
    }
  };
  const senders = Array.from({ length: 8 }, sendUntilRefused);
  await vi.waitFor(() => expect(accepted.length).toBeGreaterThan(8), 20_000);
  await suspendOrganization(organizationId, "Fraud");
  await Promise.all(senders);
  expect(
    new Set(refusals.map((error) => (error instanceof Error && "code" in error ? error.code : error))),
  ).toEqual(new Set(["ORGANIZATION_SUSPENDED"]));
  const debitedMicros = 10_000_000 - accepted.length * priceMicros;
  expect((await readWallet(organizationId)).balanceMicros).toBe(debitedMicros);

  const carrier = new ScriptedCarrier(accept);
  for (const job of accepted) await submitMessage(job, only(carrier));
  for (const job of [...accepted, ...accepted]) await refundMessage(job);
  expect(carrier.received).toEqual([]);
  expect((await readWallet(organizationId)).balanceMicros).toBe(10_000_000);
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
});

it.each(stops)(
  "a running campaign ends with %s at its next block, and continues when it is launched again",
  async (code, stop, resume) => {
    const organizationId = await openOrganization(1_000_000, { webhookCount: 1 });
    const campaignId = await createCampaignTo(organizationId, 3);
    const job = { organizationId, campaignId };
    const oneContact = { blocks: 1, blockSize: 1, timeMs: 60_000 };
    await launchCampaign(organizationId, campaignId);
    await runCampaign(job, oneContact);
    await stop(organizationId);
    await runCampaign(job, oneContact);
    expect(await getCampaign(organizationId, campaignId)).toMatchObject({
      status: "failed",
      errorCode: code,
      progress: { accepted: 1 },
    });

    await resume(organizationId);
    await launchCampaign(organizationId, campaignId);
    await runCampaign(job, { ...oneContact, blocks: 10 });
    expect((await getCampaign(organizationId, campaignId)).progress.accepted).toBe(3);
  },
);

it("an organization that paused its sending sends again once it is resumed, and refunds meanwhile", async () => {
  const organizationId = await openOrganization(1_000_000, { webhookCount: 1 });
  const queued = await acceptFor(organizationId);
  const later = await sendLater(organizationId);
  await setSendingPaused(organizationId, true);
  await expect(acceptFor(organizationId)).rejects.toMatchObject({ code: "SENDING_PAUSED" });
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(queued, only(carrier));
  await refundMessage(queued);
  await cancelMessage(ownerOf(organizationId), later.messageId);
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000);
  await setSendingPaused(organizationId, false);
  const after = await acceptFor(organizationId);
  await submitMessage(queued, only(carrier));
  await submitMessage(after, only(carrier));
  expect(idsIn(carrier)).toEqual([after.messageId]);
});

it("a pause and a suspension do not end each other", async () => {
  const organizationId = await openOrganization(1_000_000, { webhookCount: 1 });
  await suspendOrganization(organizationId, "Fraud");
  await setSendingPaused(organizationId, true);
  await resumeOrganization(organizationId);
  await expect(acceptFor(organizationId)).rejects.toMatchObject({ code: "SENDING_PAUSED" });
});

it("a missing organization cannot be suspended, and one without a wallet can", async () => {
  await expect(suspendOrganization("org_nobody", "Fraud")).rejects.toThrow(
    /There is no organi[sz]ation org_nobody\./,
  );
  const id = "org_01J00000000000000000WALLET";
  await putOrganization(id);
  expect((await suspendOrganization(id, "Fraud")).suspendedAt).toBeDefined();
});
