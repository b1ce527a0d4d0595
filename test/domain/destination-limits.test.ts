import { beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { limitDestination } from "../../shared/money/prices/blocked-destinations.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { usesToday } from "../../shared/platform/limits/daily.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { only, reject, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { hello, priceMicros } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { openOrganization } from "../support/wallets.ts";

const balanceMicros = 1_000_000;
const to: string = hello.to;
const similar = "15006000000";
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime("2031-03-01T12:00:00Z");
  await useOwnTable();
  organizationId = await openOrganization(balanceMicros);
});

/** Limits a prefix to the price of some messages, and lets the time pass after which it applies everywhere. */
async function limitTo(messages: number, prefix: string, ofOrganization?: string): Promise<void> {
  await limitDestination({ prefix, organizationId: ofOrganization }, messages * priceMicros, "Ticket 31");
  advance(minuteMs / 2);
}

async function send(number = to, fields: { readonly test?: boolean } = {}): Promise<string> {
  return acceptMessage(organizationId, { ...hello, to: number, ...fields }).then(
    () => "accepted",
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
}

async function sendTimes(count: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let sent = 0; sent < count; sent += 1) outcomes.push(await send());
  return outcomes;
}

/** The number of messages that count against the limit of a prefix today. */
const counted = async (prefix: string): Promise<number> =>
  (await usesToday("destination-limit", `${organizationId} ${prefix}`)) / priceMicros;

const balance = async (): Promise<number> => (await readWallet(organizationId)).balanceMicros;

const rejected = "DESTINATION_NOT_ALLOWED";

describe("a limit of a destination", () => {
  it("rejects messages beyond it before the debit, until the next day", async () => {
    await limitTo(2, "1500");
    expect(await sendTimes(3)).toEqual(["accepted", "accepted", rejected]);
    expect([await send("12025550143"), await send(to, { test: true })]).toEqual(["accepted", "accepted"]);
    expect(await balance()).toBe(balanceMicros - 3 * priceMicros);
    advance(dayMs);
    expect(await sendTimes(3)).toEqual(["accepted", "accepted", rejected]);
    await limitDestination({ prefix: "1500" }, undefined, "Ticket 31");
    advance(minuteMs / 2);
    expect(await send()).toBe("accepted");
    expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
  });

  it("is not passed by parallel sends, and each of them ends", async () => {
    await limitTo(3, "1500");
    const outcomes = await Promise.all(Array.from({ length: 8 }, async () => send()));
    expect(outcomes.filter((each) => each === "accepted")).toHaveLength(3);
    expect(outcomes.filter((each) => each === rejected)).toHaveLength(5);
    expect(await balance()).toBe(balanceMicros - 3 * priceMicros);
  });

  it("is for each organization on its own, and an organization's own limit replaces it", async () => {
    await limitTo(1, "1500");
    expect(await sendTimes(2)).toEqual(["accepted", rejected]);
    await limitTo(3, "1500", organizationId);
    expect(await sendTimes(3)).toEqual(["accepted", "accepted", rejected]);
    organizationId = await openOrganization(balanceMicros);
    expect(await sendTimes(2)).toEqual(["accepted", rejected]);
  });

  it("holds together with that of a longer prefix, which counts nothing for a rejected message", async () => {
    await limitTo(2, "1500");
    await limitTo(1, "1500555");
    expect(await sendTimes(2)).toEqual(["accepted", rejected]);
    expect([await counted("1500"), await counted("1500555")]).toEqual([1, 1]);
    expect(await send(similar)).toBe("accepted");
    expect(await send(similar)).toBe(rejected);
  });

  it("counts nothing for a send that the balance does not cover, and counts refunded messages", async () => {
    organizationId = await openOrganization(priceMicros);
    await limitTo(2, "1500");
    expect(await sendTimes(3)).toEqual(["accepted", "INSUFFICIENT_BALANCE", "INSUFFICIENT_BALANCE"]);
    expect(await counted("1500")).toBe(1);
    const job = MessageJob.parse((await takeJobs("transactionalSends")).at(-1));
    await submitMessage(job, only(new ScriptedCarrier(reject)));
    await refundMessage(job);
    expect(await balance()).toBe(priceMicros);
    expect(await counted("1500")).toBe(1);
  });

  it("lets a campaign send the part of a block that it covers, and wait with the rest", async () => {
    await limitTo(2, "15006");
    const campaignId = await createCampaignTo(organizationId, 3);
    await launchCampaign(organizationId, campaignId);
    await runCampaign({ organizationId, campaignId });
    expect(await getCampaign(organizationId, campaignId)).toMatchObject({
      status: "sending",
      waitsUntil: "2031-03-02T00:00:00.000Z",
      progress: { accepted: 2 },
    });
    expect(await balance()).toBe(balanceMicros - 2 * priceMicros);
    expect(await counted("15006")).toBe(2);
  });
});
