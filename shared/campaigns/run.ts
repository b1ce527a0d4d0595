import { findOrganization, type OrganizationRecord } from "../accounts/organization-record.ts";
import type { CampaignErrorCode } from "../contract/campaigns.ts";
import { ApiError } from "../contract/errors.ts";
import { eventJob, owedEvent } from "../events/event-job.ts";
import { acceptTogether, maxAcceptedTogether } from "../messages/accept.ts";
import { findCampaignCounts } from "../messages/counts.ts";
import { sendJob } from "../messages/message-job.ts";
import { refusalOfSender } from "../messages/policies.ts";
import type { MessageRecord } from "../messages/record.ts";
import { recount, type Look } from "../messages/recount.ts";
import { dayMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import { maxDelaySeconds, secondsUntil } from "../platform/jobs/job.ts";
import { enqueue, enqueueAll } from "../platform/jobs/queue.ts";
import { keys, partNames } from "../platform/table/keys.ts";
import { hasLease, newLease } from "../platform/table/lease.ts";
import { putItem, transact, updateItem } from "../platform/table/table.ts";
import { readPrices } from "../prices/prices.ts";
import { readWallet } from "../wallet/record.ts";
import { nextDay, spendLeftMicros } from "../wallet/spending-limits.ts";
import { campaignJob, scheduledRun, type CampaignJob } from "./campaign-job.ts";
import { nextTurns, withinLimits, type Turn } from "./recipients.ts";
import {
  acceptedAll,
  CampaignRecord,
  complete,
  completedEvent,
  fail,
  findCampaign,
  passBlock,
  releaseRun,
  startRun,
  waitForNextDay,
  type Block,
} from "./record.ts";

/** Longer than a worker can run, so that a run lapses only when its worker is surely gone. */
const runLeaseMs = minuteMs;

/** How much the clocks of two workers may differ. */
const clockToleranceMs = 500;

/** How much of a campaign one run does; the next run goes on. */
export interface RunLimits {
  readonly blocks: number;
  /** Contacts that are looked at, and messages that are paid and recorded, together. */
  readonly blockSize: number;
  readonly timeMs: number;
}

const defaultLimits: RunLimits = { blocks: 20, blockSize: maxAcceptedTogether, timeMs: 10 * secondMs };

/** How long a campaign waits whose block could not be recorded for want of room in the table. */
const contentionSeconds = 5;

/** The longest wait between two looks whether the last messages have ended. */
const maxWaitSeconds = 60;

/**
 * In case a counter has lost a count, the messages are looked at even if the counters do not say so: first after
 * this time, and then whenever half of the time waited has gone by without a look.
 */
const minLookIntervalMs = 10 * secondMs;

/** A message that has not ended by then never will by itself: the queues have given it up. */
const patienceMs = 5 * dayMs;

/**
 * Takes a campaign a few blocks further: each block of contacts is debited in one update and recorded in one
 * transaction, together with how far the campaign has come. A block is therefore accepted once, whatever
 * happens to the worker, and the next run goes on behind it.
 * @throws Error when the job has to come again
 */
export async function runCampaign(job: CampaignJob, limits = defaultLimits): Promise<void> {
  const held = await hold(job);
  if (held === undefined) return;
  if (held.isTakenOver) await queueLastBlock(held.campaign);
  // Those that wait for their last messages need nothing of it.
  const organization =
    held.campaign.acceptedAllAt === undefined ? await findOrganization(job.organizationId) : undefined;
  if (await mayNotSend(held.campaign)) return;
  const deadline = now().getTime() + limits.timeMs;
  let { campaign } = held;
  for (let block = 0; block < limits.blocks && now().getTime() < deadline; block += 1) {
    if (campaign.acceptedAllAt !== undefined) return completeOrWait(campaign);
    const passed = await nextBlock(campaign, organization, limits.blockSize).catch(async (error: unknown) => {
      if (!(error instanceof ApiError && error.code === "UNAVAILABLE")) throw error;
      await comeBackSoon(campaign);
    });
    // It was cancelled under our hands, has failed, or was let go to come back soon.
    if (passed === undefined) return;
    campaign = passed;
  }
  await updateItem(CampaignRecord, releaseRun(campaign));
  await enqueue(campaignJob(job));
}

/** Ends a campaign with contacts left as failed, if its organization may not, or may no longer, send as it does. */
async function mayNotSend(campaign: CampaignRecord): Promise<boolean> {
  if (campaign.acceptedAllAt !== undefined) return false;
  const refusal = await refusalOfSender(campaign);
  if (refusal === undefined) return false;
  await updateItem(CampaignRecord, fail(campaign, now(), refusal));
  return true;
}

/** Lets a campaign go whose block met too much contention, instead of leaving it held until its queue gives it up. */
async function comeBackSoon(campaign: CampaignRecord): Promise<void> {
  const held = await findHeld(campaign);
  if (held === undefined) return;
  // It is not certain that nothing was recorded; what was has not been queued.
  await queueLastBlock(held);
  await updateItem(CampaignRecord, releaseRun(held));
  await enqueue(campaignJob({ organizationId: held.organizationId, campaignId: held.id }, contentionSeconds));
}

interface Held {
  readonly campaign: CampaignRecord;
  /** Whether the run before this one never let it go: its worker has died, or gave up. */
  readonly isTakenOver: boolean;
}

/** The campaign, held by this run; undefined when it is not due or another run has it. */
async function hold({ organizationId, campaignId, isScheduled }: CampaignJob): Promise<Held | undefined> {
  const campaign = await findCampaign(organizationId, campaignId);
  if (campaign?.status !== "scheduled" && campaign?.status !== "sending") return undefined;
  if (isScheduled === true) await putItem(scheduledRun({ organizationId, campaignId }));
  const at = now();
  const lease = newLease(at, runLeaseMs);
  const claimed = await updateItem(CampaignRecord, startRun(campaign, lease, at), { isOwn: hasLease(lease) });
  if (claimed.applied) return { campaign: claimed.item, isTakenOver: campaign.leaseToken !== undefined };
  const isSoon = isFreeSoon(CampaignRecord.parse(claimed.found), at);
  if (isSoon) await enqueue(campaignJob({ organizationId, campaignId }, 1));
  return undefined;
}

/** Whether a campaign that nobody holds is only a moment away from its time: clocks differ a little. */
function isFreeSoon({ leaseToken, scheduledAt = "", leaseUntil = "" }: CampaignRecord, at: Date): boolean {
  const freeAt = Date.parse(leaseUntil > scheduledAt ? leaseUntil : scheduledAt);
  return leaseToken === undefined && freeAt - at.getTime() < clockToleranceMs;
}

/** Queues messages that were recorded just before their worker died; a job too many does nothing. */
async function queueLastBlock(campaign: CampaignRecord): Promise<void> {
  const { organizationId, messageType, id: campaignId, lastMessageIds } = campaign;
  await enqueueAll(lastMessageIds.map((id) => sendJob({ organizationId, id, messageType, campaignId })));
}

/** Takes the campaign over its next contacts. @returns it, still held; undefined when it has come to an end */
async function nextBlock(
  campaign: CampaignRecord,
  organization: OrganizationRecord | undefined,
  blockSize: number,
): Promise<CampaignRecord | undefined> {
  const at = now();
  const prices = await readPrices(organization, at);
  const turns = await withinLimits(campaign, await nextTurns(campaign, blockSize, { queuedAt: at, prices }));
  if (turns.length === 0) {
    const ended = await updateItem(CampaignRecord, acceptedAll(campaign, at));
    return ended.applied ? ended.item : undefined;
  }
  const refusal = await accept(campaign, turns);
  if (refusal === undefined) return findHeld(campaign);
  if (refusal === "DAILY_SPEND_CAP_REACHED") return waitForMoreToSpend(campaign);
  await updateItem(CampaignRecord, fail(campaign, now(), refusal));
  return undefined;
}

/** Lets a campaign go until the day's cap leaves something again: at midnight (UTC), or sooner if it is raised. */
async function waitForMoreToSpend(campaign: CampaignRecord): Promise<undefined> {
  const held = await findHeld(campaign);
  if (held === undefined) return;
  const next = nextDay();
  const waitSeconds = Math.min(maxDelaySeconds, secondsUntil(next.toISOString()));
  const lookAgainAt = new Date(now().getTime() + waitSeconds * secondMs);
  await updateItem(CampaignRecord, waitForNextDay(held, next, lookAgainAt));
  await enqueue(campaignJob({ organizationId: held.organizationId, campaignId: held.id }, waitSeconds));
}

/** Accepts the messages of a block, or of as much of it as the balance and the day's cap cover. */
async function accept(
  campaign: CampaignRecord,
  turns: readonly Turn[],
): Promise<CampaignErrorCode | "DAILY_SPEND_CAP_REACHED" | undefined> {
  const messages = turns.flatMap((turn) => ("message" in turn ? [turn.message] : []));
  if (messages.length === 0) {
    await updateItem(CampaignRecord, passBlock(campaign, blockOf(turns, [])));
    return undefined;
  }
  try {
    await acceptTogether(messages, (placed) => [passBlock(campaign, blockOf(turns, placed))]);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "WALLET_MISSING" || error.code === "ORGANIZATION_SUSPENDED") return error.code;
    if (error.code !== "INSUFFICIENT_BALANCE" && error.code !== "DAILY_SPEND_CAP_REACHED") throw error;
    const covered = await coveredTurns(campaign.organizationId, turns);
    // The balance may not cover the block, and the cap not even the first message: then that says what there is to wait for.
    if (covered.length === 0) {
      return turns.length === 1 ? error.code : accept(campaign, turns.slice(0, 1));
    }
    // More may be spent than a moment ago, and it covers the block, which is tried again.
    if (covered.length === turns.length) return undefined;
    return accept(campaign, covered);
  }
}

/** The first turns of a block that the balance and the day's cap cover. */
async function coveredTurns(organizationId: string, turns: readonly Turn[]): Promise<readonly Turn[]> {
  const wallet = await readWallet(organizationId);
  let leftMicros = Math.min(wallet.balanceMicros, spendLeftMicros(wallet));
  const end = turns.findIndex((turn) => {
    leftMicros -= "message" in turn ? turn.message.totalMicros : 0;
    return leftMicros < 0;
  });
  return end === -1 ? turns : turns.slice(0, end);
}

function blockOf(turns: readonly Turn[], messages: readonly MessageRecord[]): Block {
  const skipped = (reason: string): number =>
    turns.filter((turn) => "skipped" in turn && turn.skipped === reason).length;
  return {
    position: turns.at(-1)?.position ?? "",
    messageIds: messages.map(({ id }) => id),
    chargedMicros: messages.reduce((sum, { totalMicros }) => sum + totalMicros, 0),
    skippedOptedOut: skipped("optedOut"),
    skippedUnrenderable: skipped("unrenderable"),
    skippedUnknown: skipped("unknown"),
    skippedDestinationNotAllowed: skipped("destinationNotAllowed"),
    skippedDestinationNotPriced: skipped("destinationNotPriced"),
    skippedRecipientRateExceeded: skipped("recipientRateExceeded"),
  };
}

async function findHeld(held: CampaignRecord): Promise<CampaignRecord | undefined> {
  const campaign = await findCampaign(held.organizationId, held.id);
  return campaign?.status === "sending" && campaign.leaseToken === held.leaseToken ? campaign : undefined;
}

/** Completes a campaign when the last of its messages has ended, or looks again later. */
async function completeOrWait(campaign: CampaignRecord): Promise<void> {
  const { organizationId, id: campaignId, acceptedAllAt = "" } = campaign;
  const waitedMs = now().getTime() - Date.parse(acceptedAllAt);
  const look = waitedMs > patienceMs ? "closed" : await lookAtMessages(campaign, waitedMs);
  if (look === "closed") return finish(campaign);
  const patientSeconds = Math.min(maxWaitSeconds, Math.ceil((waitedMs + 1) / (2 * secondMs)));
  const waitSeconds = look === "unfinished" ? 1 : patientSeconds;
  // Jobs that come earlier find it held and end, so that a campaign that was asked for twice is soon looked at once.
  const until = new Date(now().getTime() + (waitSeconds - 1) * secondMs);
  await updateItem(CampaignRecord, releaseRun(campaign, until));
  await enqueue(campaignJob({ organizationId, campaignId }, waitSeconds));
}

/** Completes a campaign and tells its webhooks. */
async function finish(campaign: CampaignRecord): Promise<void> {
  const at = now();
  const { organizationId, id } = campaign;
  const job = eventJob(
    organizationId,
    completedEvent(campaign, await findCampaignCounts(organizationId, id), at),
  );
  const { outcome } = await transact([complete(campaign, at), owedEvent(job)]);
  if (outcome === "committed") await enqueue(job);
}

/** Whether all messages of a campaign have ended; the counters only say when to look. */
async function lookAtMessages(campaign: CampaignRecord, waitedMs: number): Promise<Look> {
  const { organizationId, id, accepted, startedAt = "", acceptedAllAt = "" } = campaign;
  const counts = await findCampaignCounts(organizationId, id);
  const ended = (counts?.sent ?? 0) + (counts?.failed ?? 0);
  const lookedAt = Date.parse(counts?.lookedAt ?? acceptedAllAt);
  const isOverdue = now().getTime() - lookedAt > Math.max(minLookIntervalMs, waitedMs / 2);
  if (ended < accepted && counts?.unfinished === undefined && !isOverdue) return "open";
  const { messageParts } = await readWallet(organizationId);
  return recount({
    organizationId,
    parts: partNames(messageParts),
    key: keys.campaignCounts(organizationId, id),
    from: new Date(startedAt),
    to: new Date(acceptedAllAt),
    takes: ({ campaignId }) => campaignId === id,
  });
}
