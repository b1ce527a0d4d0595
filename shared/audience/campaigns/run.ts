import type { CampaignErrorCode } from "../../api/contract/campaigns.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { acceptTogether, maxAcceptedTogether } from "../../messages/accept/accept.ts";
import { senderRejection } from "../../messages/accept/policies.ts";
import { findCampaignCounts } from "../../messages/counts/counts.ts";
import { recount, type Look } from "../../messages/counts/recount.ts";
import { sendJob } from "../../messages/message/message-job.ts";
import type { MessageRecord } from "../../messages/message/record.ts";
import { readPrices } from "../../money/prices/prices.ts";
import { coverageOf } from "../../money/wallet/coverage.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { nextDay } from "../../money/wallet/spending-limits.ts";
import { eventJob, owedEvent } from "../../notices/event-job.ts";
import { dayMs, minuteMs, now, secondMs } from "../../platform/clock.ts";
import { maxDelaySeconds, secondsUntil } from "../../platform/jobs/job.ts";
import { enqueue, enqueueAll } from "../../platform/jobs/queue.ts";
import { keys } from "../../platform/table/keys.ts";
import { hasLease, newLease } from "../../platform/table/lease.ts";
import { messagesOf } from "../../platform/table/shards.ts";
import { transact } from "../../platform/table/transact.ts";
import { putItem, updateItem, type Update, type Write } from "../../platform/table/write.ts";
import { findOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { campaignJob, scheduledRun, type CampaignJob } from "./campaign-job.ts";
import { blockOf, nextRecipients, skipLimited, withinLimits, type RecipientResult } from "./recipients.ts";
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
} from "./record.ts";
import { skippedPut } from "./skipped.ts";

/** Longer than a worker can run, so that the lease of a run lapses only after its worker has ended. */
const runLeaseMs = minuteMs;

/** The largest difference between the clocks of two workers. */
const clockToleranceMs = 500;

/** The limits of one run. The next run continues the campaign. */
interface RunLimits {
  readonly blocks: number;
  /** The number of contacts that are read together, and whose messages are paid and recorded together. */
  readonly blockSize: number;
  readonly timeMs: number;
}

const defaultLimits: RunLimits = { blocks: 20, blockSize: maxAcceptedTogether, timeMs: 10 * secondMs };

/** The wait of a campaign after too much contention for recording a block. */
const contentionSeconds = 5;

/** The longest wait between two checks whether the last messages have ended. */
const maxWaitSeconds = 60;

/**
 * A counter may have lost a count. So the messages are also recounted without a sign from the counters. The first time is
 * after this interval, and then whenever half of the time waited has passed without a recount.
 */
const minLookIntervalMs = 10 * secondMs;

/** A message that has not ended after this time never will by itself, because the queues have dropped its job. */
const patienceMs = 5 * dayMs;

/**
 * Advances a campaign by a few blocks. Each block of contacts is debited in one update, and recorded in one transaction
 * together with the campaign's progress. A block is therefore accepted once, even if the worker dies, and the next run
 * continues after it.
 * @throws Error when the job has to be repeated
 */
export async function runCampaign(job: CampaignJob, limits = defaultLimits): Promise<void> {
  const leased = await acquire(job);
  if (leased === undefined) return;
  if (leased.hasLapsed) await queueLastBlock(leased.campaign);
  // A campaign that waits for its last messages does not need its organization.
  const organization =
    leased.campaign.acceptedAllAt === undefined ? await findOrganization(job.organizationId) : undefined;
  if (await mayNotSend(leased.campaign)) return;
  const deadline = now().getTime() + limits.timeMs;
  let { campaign } = leased;
  for (let block = 0; block < limits.blocks && now().getTime() < deadline; block += 1) {
    if (campaign.acceptedAllAt !== undefined) return completeOrWait(campaign);
    const passed = await nextBlock(campaign, organization, limits.blockSize).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === "UNAVAILABLE")) throw error;
      return undefined;
    });
    if (passed === undefined) return leave(campaign);
    campaign = passed;
  }
  await updateItem(CampaignRecord, releaseRun(campaign));
  await enqueue(campaignJob(job));
}

/** Fails a campaign with remaining contacts if its organization may not send it, or may not any longer. */
async function mayNotSend(campaign: CampaignRecord): Promise<boolean> {
  if (campaign.acceptedAllAt !== undefined) return false;
  const rejection = await senderRejection(campaign);
  if (rejection === undefined) return false;
  await updateItem(CampaignRecord, fail(campaign, now(), rejection));
  return true;
}

/**
 * Releases a campaign after a pause, a cancellation or too much contention, so that its next run need not wait until the lease
 * lapses. One that failed or waits has been released.
 */
async function leave({ organizationId, id: campaignId, leaseToken }: CampaignRecord): Promise<void> {
  const campaign = await findCampaign(organizationId, campaignId);
  if (campaign === undefined || campaign.leaseToken !== leaseToken) return;
  // The last block may have been recorded, but it has not been queued.
  await queueLastBlock(campaign);
  await updateItem(CampaignRecord, releaseRun(campaign));
  if (campaign.status === "sending")
    await enqueue(campaignJob({ organizationId, campaignId }, contentionSeconds));
}

interface Leased {
  readonly campaign: CampaignRecord;
  /** Whether the previous run did not release it, because its worker died or gave up. */
  readonly hasLapsed: boolean;
}

/** Acquires the lease of the campaign. Returns undefined when it is not due or another run has the lease. */
async function acquire({
  organizationId,
  campaignId,
  isScheduled,
}: CampaignJob): Promise<Leased | undefined> {
  const campaign = await findCampaign(organizationId, campaignId);
  if (campaign?.status !== "scheduled" && campaign?.status !== "sending") return undefined;
  if (isScheduled === true) await putItem(scheduledRun({ organizationId, campaignId }));
  const at = now();
  const lease = newLease(at, runLeaseMs);
  const acquired = await updateItem(CampaignRecord, startRun(campaign, lease, at), {
    isOwn: hasLease(lease),
  });
  if (acquired.applied) return { campaign: acquired.item, hasLapsed: campaign.leaseToken !== undefined };
  const isSoon = isFreeSoon(CampaignRecord.parse(acquired.found), at);
  if (isSoon) await enqueue(campaignJob({ organizationId, campaignId }, 1));
  return undefined;
}

/** Returns whether a campaign without a lease is almost due. Clocks differ a little. */
function isFreeSoon({ leaseToken, scheduledAt = "", leaseUntil = "" }: CampaignRecord, at: Date): boolean {
  const freeAt = Date.parse(leaseUntil > scheduledAt ? leaseUntil : scheduledAt);
  return leaseToken === undefined && freeAt - at.getTime() < clockToleranceMs;
}

/** Queues messages that were recorded just before their worker died. A surplus job does nothing. */
async function queueLastBlock(campaign: CampaignRecord): Promise<void> {
  const { organizationId, messageType, id: campaignId, lastMessageIds } = campaign;
  await enqueueAll(lastMessageIds.map((id) => sendJob({ organizationId, id, messageType, campaignId })));
}

/** Processes the next contacts. @returns the campaign, still leased; undefined when it has ended */
async function nextBlock(
  campaign: CampaignRecord,
  organization: OrganizationRecord | undefined,
  blockSize: number,
): Promise<CampaignRecord | undefined> {
  const at = now();
  const prices = await readPrices(organization, at);
  const results = await withinLimits(
    campaign,
    await nextRecipients(campaign, blockSize, { queuedAt: at, prices }),
  );
  if (results.length === 0) {
    const ended = await updateItem(CampaignRecord, acceptedAll(campaign, at));
    return ended.applied ? ended.item : undefined;
  }
  const rejection = await accept(campaign, results);
  if (rejection === undefined) return findLeased(campaign);
  if (rejection === "DAILY_SPEND_CAP_REACHED") return waitForMoreToSpend(campaign);
  await updateItem(CampaignRecord, fail(campaign, now(), rejection));
  return undefined;
}

/** Releases a campaign until the daily cap allows more: at midnight (UTC), or sooner if the cap is raised. */
async function waitForMoreToSpend(campaign: CampaignRecord): Promise<undefined> {
  const leased = await findLeased(campaign);
  if (leased === undefined) return;
  const next = nextDay();
  const waitSeconds = Math.min(maxDelaySeconds, secondsUntil(next.toISOString()));
  const lookAgainAt = new Date(now().getTime() + waitSeconds * secondMs);
  await updateItem(CampaignRecord, waitForNextDay(leased, next, lookAgainAt));
  await enqueue(campaignJob({ organizationId: leased.organizationId, campaignId: leased.id }, waitSeconds));
}

/** Accepts the messages of a block, or the first ones that the balance and the daily cap cover. */
async function accept(
  campaign: CampaignRecord,
  results: readonly RecipientResult[],
): Promise<CampaignErrorCode | "DAILY_SPEND_CAP_REACHED" | undefined> {
  const messages = results.flatMap((result) => ("message" in result ? [result.message] : []));
  if (messages.length === 0) {
    const [passed, ...skipped] = blockWrites(campaign, results, []);
    // A single write needs no transaction, which costs twice as much.
    if (skipped.length === 0) await updateItem(CampaignRecord, passed);
    else await transact({ campaign: passed, skipped });
    return undefined;
  }
  try {
    await acceptTogether(messages, (placed) => blockWrites(campaign, results, placed));
    return undefined;
  } catch (error) {
    const unlimited = skipLimited(results, error);
    if (unlimited !== undefined) return accept(campaign, unlimited);
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "ORGANIZATION_SUSPENDED" || error.code === "SENDING_PAUSED") return error.code;
    if (error.code === "WALLET_MISSING") return error.code;
    if (error.code !== "INSUFFICIENT_BALANCE" && error.code !== "DAILY_SPEND_CAP_REACHED") throw error;
    const covered = await coveredResults(campaign.organizationId, results);
    // If not even the first message is covered, its own error decides whether the balance or the cap is the reason.
    if (covered.length === 0) {
      return results.length === 1 ? error.code : accept(campaign, results.slice(0, 1));
    }
    // The balance or the cap has grown in the meantime and covers the block. The caller tries it again.
    if (covered.length === results.length) return undefined;
    return accept(campaign, covered);
  }
}

/** Returns the first results of a block that the balance and the daily cap cover. */
async function coveredResults(
  organizationId: string,
  results: readonly RecipientResult[],
): Promise<readonly RecipientResult[]> {
  const prices = results.map((result) => ("message" in result ? result.message.totalMicros : 0));
  const { count } = await coverageOf(organizationId, prices);
  return results.slice(0, count);
}

/** Returns the writes that record a block with its accepted messages: the campaign's progress, and the skipped contacts. */
function blockWrites(
  campaign: CampaignRecord,
  results: readonly RecipientResult[],
  accepted: readonly MessageRecord[],
): readonly [progress: Update<"campaign">, ...skipped: Write[]] {
  return [passBlock(campaign, blockOf(results, accepted)), ...skippedPut(campaign, results)];
}

async function findLeased(leased: CampaignRecord): Promise<CampaignRecord | undefined> {
  const campaign = await findCampaign(leased.organizationId, leased.id);
  return campaign?.status === "sending" && campaign.leaseToken === leased.leaseToken ? campaign : undefined;
}

/** Completes a campaign when the last of its messages has ended, or schedules another check. */
async function completeOrWait(campaign: CampaignRecord): Promise<void> {
  const { organizationId, id: campaignId, acceptedAllAt = "" } = campaign;
  const waitedMs = now().getTime() - Date.parse(acceptedAllAt);
  const look = waitedMs > patienceMs ? "closed" : await lookAtMessages(campaign, waitedMs);
  if (look === "closed") return finish(campaign);
  const patientSeconds = Math.min(maxWaitSeconds, Math.ceil((waitedMs + 1) / (2 * secondMs)));
  const waitSeconds = look === "unfinished" ? 1 : patientSeconds;
  // Jobs that arrive earlier find it deferred and end. So a campaign with duplicate jobs soon has only one.
  const until = new Date(now().getTime() + (waitSeconds - 1) * secondMs);
  await updateItem(CampaignRecord, releaseRun(campaign, until));
  await enqueue(campaignJob({ organizationId, campaignId }, waitSeconds));
}

/** Completes a campaign and publishes the event. */
async function finish(campaign: CampaignRecord): Promise<void> {
  const at = now();
  const { organizationId, id } = campaign;
  const job = eventJob(
    organizationId,
    completedEvent(campaign, await findCampaignCounts(organizationId, id), at),
  );
  const { outcome } = await transact({ campaign: complete(campaign, at), event: owedEvent(job) });
  if (outcome === "committed") await enqueue(job);
}

/** Returns whether all messages of a campaign have ended. The counters only indicate when a recount is useful. */
async function lookAtMessages(campaign: CampaignRecord, waitedMs: number): Promise<Look> {
  const { organizationId, id, accepted, startedAt = "", acceptedAllAt = "" } = campaign;
  const counts = await findCampaignCounts(organizationId, id);
  const ended = (counts?.sent ?? 0) + (counts?.failed ?? 0);
  const lookedAt = Date.parse(counts?.lookedAt ?? acceptedAllAt);
  const isOverdue = now().getTime() - lookedAt > Math.max(minLookIntervalMs, waitedMs / 2);
  if (ended < accepted && counts?.unfinished === undefined && !isOverdue) return "open";
  return recount({
    messages: messagesOf(await readWallet(organizationId)),
    counter: keys.campaignCounts(organizationId, id),
    from: new Date(startedAt),
    to: new Date(acceptedAllAt),
    includes: ({ campaignId }) => campaignId === id,
  });
}
