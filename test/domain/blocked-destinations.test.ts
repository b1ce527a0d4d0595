import { beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { listConversations } from "../../shared/audience/conversations/conversations.ts";
import { replyToConversation } from "../../shared/audience/conversations/reply.ts";
import { sendTemplate } from "../../shared/audience/templates/send.ts";
import { createTemplate } from "../../shared/audience/templates/templates.ts";
import { decideHeldMessage } from "../../shared/messages/accept/decide-held.ts";
import { estimateMessage } from "../../shared/messages/accept/estimate.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import {
  blockDestination,
  readBlocked,
  unblockDestination,
} from "../../shared/money/prices/blocked-destinations.ts";
import { listPrices } from "../../shared/money/prices/list.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { acceptMessage, holdMessage } from "../support/as-organization.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { accept, only, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { damage } from "../support/items.ts";
import { acceptFor, hello, priceMicros, statusOf } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";

const balanceMicros = 1_000_000;
const to = "447700900123";
let organizationId: string;

// A block may be for the whole stage, so no other test may see it.
beforeEach(async () => {
  vi.setSystemTime("2031-03-01T12:00:00Z");
  await useOwnTable();
  organizationId = await openOrganization(balanceMicros);
});

/** Blocks a prefix, and lets the time pass after which it applies everywhere. */
async function block(prefix: string, ofOrganization?: string): Promise<void> {
  await blockDestination({ prefix, organizationId: ofOrganization }, "Ticket 31");
  advance(minuteMs / 2);
}

/** The code of the rejection of a request, or `accepted`. */
async function outcomeOf(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => "accepted",
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
}

const send = async (number: string): Promise<string> =>
  outcomeOf(acceptMessage(organizationId, { ...hello, to: number }));

async function estimate(number: string): Promise<string> {
  const organization = await organizationOf(organizationId);
  const request = { to: number, message: "hello", language: "English" } as const;
  return outcomeOf(estimateMessage(organization, request, ownerOf(organizationId)));
}

async function balance(): Promise<number> {
  return (await readWallet(organizationId)).balanceMicros;
}

/** The rejections of all ways to send one message to `hello.to`, each as a function that tries it. */
async function waysToSend(): Promise<(() => Promise<string>)[]> {
  const organization = await organizationOf(organizationId);
  const { id: templateId } = await createTemplate(organizationId, { name: "Code", body: "Hi" });
  const heldId = await holdMessage(organizationId, hello.to);
  const number = "442079460999";
  await assignNumber({ number, organizationId });
  await receiveInboundMessage(replyOf({ from: hello.to, to: number, message: "Hi" }));
  const { rows } = await listConversations(ownerOf(organizationId), { page: 1, limit: 1 });
  const conversationId = rows[0]?.id ?? "";
  const credential = { type: "session", sessionId: "ses_1" } as const;
  const actor = { organizationId, userId: "usr_1", scopes: [], credential };
  const deciding = { actor, reportRateLimit: () => undefined };
  const { senderId, language } = hello;
  const text = { message: "Hi", language, messageType: "transactional" } as const;
  const ways = [
    async () => acceptMessage(organizationId, hello),
    async () => sendTemplate(organization, templateId, { to: hello.to, senderId, language, values: {} }),
    async () => replyToConversation(organization, conversationId, text, { actor }),
    async () => decideHeldMessage(organization, heldId, { approve: true }, deciding),
  ];
  return ways.map((way) => async () => outcomeOf(way()));
}

describe("a message to a blocked prefix", () => {
  it("is rejected before the debit in each way to send, and accepted after the block has ended", async () => {
    const ways = await waysToSend();
    await block("1500555");
    for (const way of ways) expect(await way()).toBe("DESTINATION_NOT_ALLOWED");
    expect(await estimate(hello.to)).toBe("DESTINATION_NOT_ALLOWED");
    expect(await balance()).toBe(balanceMicros);
    expect(await outcomeOf(acceptMessage(organizationId, { ...hello, test: true }))).toBe("accepted");
    await unblockDestination({ prefix: "1500555" });
    advance(minuteMs / 2);
    for (const way of ways) expect(await way()).toBe("accepted");
    expect(await estimate(hello.to)).toBe("accepted");
    expect(await balance()).toBe(balanceMicros - ways.length * priceMicros);
    expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
  });

  it("is rejected for the one organization only, with any of several prefixes", async () => {
    const other = await openOrganization(balanceMicros);
    await block("4477", organizationId);
    await block("447700", other);
    expect(await send(to)).toBe("DESTINATION_NOT_ALLOWED");
    expect(await send("447800900123")).toBe("accepted");
    organizationId = other;
    expect(await send(to)).toBe("DESTINATION_NOT_ALLOWED");
    expect(await send("447701900123")).toBe("accepted");
  });

  it("is skipped by a campaign, which charges the others", async () => {
    const campaignId = await createCampaignTo(organizationId, 3);
    await block("15006000001");
    await launchCampaign(organizationId, campaignId);
    await runCampaign({ organizationId, campaignId });
    const { progress } = await getCampaign(organizationId, campaignId);
    expect(progress).toMatchObject({ accepted: 2, skipped: { destinationNotAllowed: 1 } });
    expect(await balance()).toBe(balanceMicros - 2 * priceMicros);
  });
});

/** Accepts a message for now. @returns its job as it is on the queue, with the facts that spare a read */
async function sendNow(): Promise<MessageJob> {
  await acceptFor(organizationId);
  const job = MessageJob.parse((await takeJobs("transactionalSends")).at(-1));
  expect(job.facts).toBeDefined();
  return job;
}

const sendLater = async (): Promise<MessageJob> =>
  acceptFor(organizationId, { scheduledAt: new Date(Date.now() + 10 * minuteMs).toISOString() });

describe.each([
  ["queued", sendNow],
  ["scheduled", sendLater],
])("a %s message", (_, acceptOne) => {
  it.each([
    ["for all organizations", "1500", () => undefined],
    ["by the digits that its job does not have, for its organization", hello.to, () => organizationId],
  ])("fails if its number is blocked %s, and is refunded once", async (_case, prefix, ofOrganization) => {
    const job = await acceptOne();
    expect(await balance()).toBe(balanceMicros - priceMicros);
    await block(prefix, ofOrganization());
    advance(11 * minuteMs);
    const carrier = new ScriptedCarrier(accept);
    // Two senders have its job.
    await Promise.allSettled([submitMessage(job, only(carrier)), submitMessage(job, only(carrier))]);
    expect(carrier.received).toEqual([]);
    expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
    const refunds = await takeJobs("refunds");
    expect(refunds).toContainEqual({ organizationId, messageId: job.messageId });
    await Promise.all([refundMessage(job), refundMessage(job)]);
    expect(await readWallet(organizationId)).toMatchObject({ balanceMicros, seq: 3 });
  });

  it("is sent if only another number or another organization is blocked", async () => {
    const job = await acceptOne();
    await block("15005550001");
    await block("1500", await openOrganization(0));
    advance(11 * minuteMs);
    const carrier = new ScriptedCarrier(accept);
    await submitMessage(job, only(carrier));
    expect(await statusOf(job)).toBe("sent");
  });
});

it("blocks that cannot be read apply for a quarter of an hour; then nothing is sold or sent, and nothing is lost", async () => {
  const job = await sendNow();
  await block("4477");
  expect(await send(to)).toBe("DESTINATION_NOT_ALLOWED");
  await damage(keys.blockedDestination("4477"), { reason: 5 });
  advance(14 * minuteMs);
  expect(await send(to)).toBe("DESTINATION_NOT_ALLOWED");
  expect(await send(hello.to)).toBe("accepted");
  advance(2 * minuteMs);
  expect([await send(to), await send(hello.to), await estimate(hello.to)]).toEqual(
    Array.from({ length: 3 }, () => "UNAVAILABLE"),
  );
  const carrier = new ScriptedCarrier(accept);
  await expect(submitMessage(job, only(carrier))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(carrier.received).toEqual([]);
  expect(await balance()).toBe(balanceMicros - 2 * priceMicros);
  await unblockDestination({ prefix: "4477" });
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("sent");
  expect(await send(to)).toBe("accepted");
});

it("two operators who block a prefix at the same time see one block, and each ends it", async () => {
  const reasons = ["Ticket 31", "Ticket 32"];
  const both = await Promise.all(reasons.map(async (each) => blockDestination({ prefix: "4477" }, each)));
  await blockDestination({ prefix: "4477", organizationId }, "Ticket 33");
  expect(both[0]).toEqual(both[1]);
  expect(await readBlocked()).toEqual([both[0], expect.objectContaining({ organizationId })]);
  await Promise.all(both.map(unblockDestination));
  expect(await readBlocked()).toMatchObject([{ organizationId, reason: "Ticket 33" }]);
});

it("the list of prices has no blocked ones, and names the blocked numbers within others", async () => {
  const organization = await organizationOf(organizationId);
  const list = async (prefix?: string) => {
    const { rows } = await listPrices(organization, { page: 1, limit: 100, prefix });
    return Object.fromEntries(rows.map((row) => [row.prefix, row.blockedPrefixes]));
  };
  expect(Object.values(await list())).not.toContainEqual(expect.anything());
  await block("44");
  await block("4915", organizationId);
  await block("33", await openOrganization(0));
  const prices = await list();
  expect(prices).not.toHaveProperty("44");
  expect(prices).toMatchObject({ "": ["44", "4915"], "49": ["4915"] });
  expect(prices["33"]).toBeUndefined();
  expect(await list(to)).toEqual({});
  expect(await list("4916")).toEqual({ "49": ["4915"] });
});
