import fc from "fast-check";
import { beforeEach, expect, it, vi } from "vitest";

import { launchCampaign, resumeCampaign } from "../../shared/audience/campaigns/launch.ts";
import { pauseCampaign } from "../../shared/audience/campaigns/pause.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { createContact, deleteContact } from "../../shared/audience/contacts/contacts.ts";
import { findContactOfNumber } from "../../shared/audience/contacts/record.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { limitDestination } from "../../shared/money/prices/blocked-destinations.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { PutCommand, TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { messagesIn } from "../support/batches.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { advance } from "../support/clock.ts";
import { priceMicros } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { isNightly } from "../support/second-opinions.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openOrganization } from "../support/wallets.ts";

/*
 * The messages of a block count once against limits, however often the block is repeated. So a campaign reaches each of its
 * people once, or waits.
 */

const contacts = 3;
const limits = { blocks: 20, blockSize: 2, timeMs: minuteMs };
const numberOf = (index: number): string => String(15_006_000_000 + index);
const everyone = Array.from({ length: contacts }, (_, index) => numberOf(index));

let organizationId: string;
let campaignId: string;

async function openWith(messages: number): Promise<void> {
  organizationId = await openOrganization(messages * priceMicros);
  for (const phoneNumber of everyone) {
    // Each has a moment of its own, so that the order of their ids is that of the numbers.
    advance(1);
    await createContact(organizationId, { phoneNumber, tags: [], attributes: {}, optedOut: false });
  }
  campaignId = await createCampaignTo(organizationId, 0);
}

beforeEach(async () => {
  vi.setSystemTime("2033-03-10T09:00:00.000Z");
  vi.stubEnv(environmentNames.marketingMessagesPerNumber, "1");
  await useOwnTable();
  await openWith(10);
});

/** Lets the lease of a dead worker lapse, and runs the campaign. */
async function run(): Promise<void> {
  advance(2 * minuteMs);
  await runCampaign({ organizationId, campaignId }, limits);
}

/** Lets the worker die before its write with a number, or after it. */
async function runUntilWrite(last: number, isApplied = false): Promise<void> {
  let writes = 0;
  interceptTableRequests(async (command, send) => {
    const isWrite = [PutCommand, TransactWriteCommand, UpdateCommand].some((each) => command instanceof each);
    if (isWrite) writes += 1;
    if (writes === last && isWrite && isApplied) await send();
    if (writes >= last) throw new Error("the function has ended");
    return send();
  });
  await run().catch(() => undefined);
  vi.restoreAllMocks();
}

/** The numbers of the messages of the campaign. */
async function numbers(): Promise<string[]> {
  return (await messagesIn(organizationId)).map(({ to }) => to).toSorted();
}

/** Deletes the contact of a number and creates it again. */
async function replaceContact(phoneNumber: string): Promise<void> {
  const contact = await findContactOfNumber(organizationId, phoneNumber);
  await deleteContact(organizationId, contact?.id ?? "");
  await createContact(organizationId, { phoneNumber, tags: [], attributes: {}, optedOut: false });
}

it("a campaign that failed for want of money reaches the others after a top-up", async () => {
  await openWith(1);
  await launchCampaign(organizationId, campaignId);
  await run();
  expect(await getCampaign(organizationId, campaignId)).toMatchObject({
    status: "failed",
    errorCode: "INSUFFICIENT_BALANCE",
    progress: { accepted: 1 },
  });
  await postToWallet({ organizationId, type: "top_up", amountMicros: 2 * priceMicros });
  await launchCampaign(organizationId, campaignId);
  await run();
  expect(await numbers()).toEqual(everyone);
  expect((await readWallet(organizationId)).balanceMicros).toBe(0);
});

it("a campaign that is paused while a block is recorded reaches the people of the block later", async () => {
  await launchCampaign(organizationId, campaignId);
  interceptTableRequests(async (command, send) => {
    const isBlock =
      command instanceof TransactWriteCommand && JSON.stringify(command.input).includes("LEDGER#");
    if (isBlock) await pauseCampaign(organizationId, campaignId);
    return send();
  });
  await run();
  vi.restoreAllMocks();
  expect((await getCampaign(organizationId, campaignId)).status).toBe("paused");
  await resumeCampaign(organizationId, campaignId);
  await run();
  expect(await numbers()).toEqual(everyone);
});

it("a campaign waits at the daily limit of a destination, and skips a message above the whole limit", async () => {
  await limitDestination({ prefix: numberOf(0) }, priceMicros - 1, "Ticket 31");
  await limitDestination({ prefix: "1500", organizationId }, priceMicros, "Ticket 32");
  await launchCampaign(organizationId, campaignId);
  await run();
  expect(await getCampaign(organizationId, campaignId)).toMatchObject({
    status: "sending",
    waitsUntil: "2033-03-11T00:00:00.000Z",
    progress: { accepted: 1 },
  });
  for (let day = 2; day <= 3; day += 1) {
    advance(dayMs);
    await run();
  }
  expect(await numbers()).toEqual(everyone.slice(1));
  const { progress } = await getCampaign(organizationId, campaignId);
  expect(progress).toMatchObject({ accepted: 2, skipped: { destinationNotAllowed: 1 } });
});

it("a campaign whose worker died before the debit keeps its part of the daily limit of a destination", async () => {
  await limitDestination({ prefix: "1500", organizationId }, contacts * priceMicros, "Ticket 31");
  await launchCampaign(organizationId, campaignId);
  for (let write = 1; write <= 6; write += 1) await runUntilWrite(write);
  await run();
  expect(await numbers()).toEqual(everyone);
});

it("a campaign whose worker died after the debit waits for the money, and does not fail", async () => {
  await openWith(contacts);
  await launchCampaign(organizationId, campaignId);
  for (let write = 1; write <= 5; write += 1) await runUntilWrite(write, true);
  await run();
  const { status, progress } = await getCampaign(organizationId, campaignId);
  expect([status, progress.accepted < contacts]).toEqual(["sending", true]);
  for (let round = 0; round < 4; round += 1) {
    advance(15 * minuteMs);
    await reconcileWallet(organizationId);
    await run();
  }
  expect(await numbers()).toEqual(everyone);
});

it("a number gets one message although its contact is replaced, or moves to another contact, meanwhile", async () => {
  await launchCampaign(organizationId, campaignId);
  await runCampaign({ organizationId, campaignId }, { ...limits, blocks: 1 });
  const [reached = ""] = await numbers();
  advance(5 * minuteMs);
  for (const number of everyone) await replaceContact(number);
  await replaceContact(reached);
  await run();
  expect(await numbers()).toEqual(everyone);
  expect((await getCampaign(organizationId, campaignId)).progress).toMatchObject({ accepted: contacts });
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant("run" as const) },
  fc.record({ write: fc.integer({ min: 1, max: 12 }), isApplied: fc.boolean() }),
  fc.constantFrom("pause", "resume", "relaunch", "top up", "reconcile", "next day"),
  fc.record({ replace: fc.nat(contacts - 1) }),
);

const seed = Date.now() % 2 ** 31;

it(`any sequence of crashes, pauses and repeats reaches each person once, for exact money (seed ${seed})`, async () => {
  const check = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    vi.setSystemTime("2033-03-10T20:00:00.000Z");
    await openWith(2);
    await limitDestination({ prefix: "1500", organizationId }, 2 * priceMicros, "Ticket 31");
    await launchCampaign(organizationId, campaignId);
    const ignoring = async (change: Promise<unknown>): Promise<unknown> => change.catch(() => undefined);
    const topUp = async (): Promise<unknown> =>
      postToWallet({ organizationId, type: "top_up", amountMicros: priceMicros });
    for (const each of [...steps, "top up", "next day", "resume", "relaunch", "reconcile"] as const) {
      advance(minuteMs);
      if (each === "run") await run();
      else if (each === "pause") await ignoring(pauseCampaign(organizationId, campaignId));
      else if (each === "resume") await ignoring(resumeCampaign(organizationId, campaignId));
      else if (each === "relaunch") await ignoring(launchCampaign(organizationId, campaignId));
      else if (each === "top up") await topUp();
      else if (each === "next day") advance(dayMs);
      else if (each === "reconcile") {
        advance(15 * minuteMs);
        await reconcileWallet(organizationId);
      } else if ("replace" in each) await replaceContact(numberOf(each.replace));
      else await runUntilWrite(each.write, each.isApplied);
    }
    const credited = 2 + [...steps, "top up"].filter((each) => each === "top up").length;
    for (let round = 0; round < 5; round += 1) {
      await run();
      advance(dayMs);
      await reconcileWallet(organizationId);
      await ignoring(launchCampaign(organizationId, campaignId));
    }
    expect(await numbers()).toEqual(everyone);
    expect((await readWallet(organizationId)).balanceMicros).toBe((credited - contacts) * priceMicros);
    expect((await verifyWallet(organizationId)).findings).toEqual([]);
  });
  await fc.assert(check, { seed, numRuns: isNightly ? 60 : 5 });
});
