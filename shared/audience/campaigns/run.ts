import type { CampaignErrorCode } from "../../api/contract/campaigns.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { commit, maxAcceptedTogether } from "../../messages/accept/commit.ts";
import { DestinationLimitReached, reserveDestinations } from "../../messages/accept/destination-limits.ts";
import { senderRejection } from "../../messages/accept/policies.ts";
import { endBy } from "../../messages/accept/reservations.ts";
import { sendJob } from "../../messages/message/message-job.ts";
import type { MessageRecord } from "../../messages/message/record.ts";
import { readPrices } from "../../money/prices/prices.ts";
import { coverageOf, hasLostDebit } from "../../money/wallet/coverage.ts";
import { nextDay } from "../../money/wallet/spending-limits.ts";
import { minuteMs, now, secondMs } from "../../platform/clock.ts";
import { maxDelaySeconds, secondsUntil } from "../../platform/jobs/job.ts";
import { enqueue, enqueueAll } from "../../platform/jobs/queue.ts";
import { hasLease, newLease } from "../../platform/table/lease.ts";
import { transact } from "../../platform/table/transact.ts";
import { putItem, updateItem, type Update, type Write } from "../../platform/table/write.ts";
import { findOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { campaignJob, scheduledRun, type CampaignJob } from "./campaign-job.ts";
import { completeOrWait } from "./complete.ts";
import { reachedPut, withoutReached } from "./reached.ts";
import { blockOf, coveredByLimit, nextRecipients, withinLimits, type RecipientResult } from "./recipients.ts";
import {
  acceptedAll,
  CampaignRecord,
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
  const recipients = await nextRecipients(campaign, blockSize, { queuedAt: at, prices });
  const results = await withinLimits(campaign, await withoutReached(campaign, recipients));
  if (results.length === 0) {
    const ended = await updateItem(CampaignRecord, acceptedAll(campaign, at));
    return ended.applied ? ended.item : undefined;
  }
  const rejection = await accept(campaign, results);
  if (rejection === undefined) return findLeased(campaign);
  if (rejection === "waits") return waitForMoreToSpend(campaign);
  await updateItem(CampaignRecord, fail(campaign, now(), rejection));
  return undefined;
}

/** Releases a campaign until a daily limit allows more: at midnight (UTC), or sooner if the limit is raised. */
async function waitForMoreToSpend(campaign: CampaignRecord): Promise<undefined> {
  const leased = await findLeased(campaign);
  if (leased === undefined) return;
  const next = nextDay();
  const waitSeconds = Math.min(maxDelaySeconds, secondsUntil(next.toISOString()));
  const lookAgainAt = new Date(now().getTime() + waitSeconds * secondMs);
  await updateItem(CampaignRecord, waitForNextDay(leased, next, lookAgainAt));
  await enqueue(campaignJob({ organizationId: leased.organizationId, campaignId: leased.id }, waitSeconds));
}

/**
 * Accepts the messages of a block, or the first ones that the balance, the daily cap and the limits of destinations cover.
 * @throws ApiError UNAVAILABLE while money may come back, so that the campaign does not fail for want of it
 * @returns why none was accepted; `waits` for the next day
 */
async function accept(
  campaign: CampaignRecord,
  results: readonly RecipientResult[],
): Promise<CampaignErrorCode | "waits" | undefined> {
  const [first, ...others] = results.flatMap((result) => ("message" in result ? [result.message] : []));
  if (first === undefined) {
    const [passed, ...skipped] = blockWrites(campaign, results, []);
    // A single write needs no transaction, which costs twice as much.
    if (skipped.length === 0) await updateItem(CampaignRecord, passed);
    else await transact({ campaign: passed, skipped });
    return undefined;
  }
  try {
    const messages = [first, ...others] as const;
    const reservations = await reserveDestinations(messages, `${campaign.id}#${campaign.position}`);
    // The worker of a campaign limits its messages itself.
    const committing = commit({
      messages,
      isRateLimited: false,
      writes: blockWrites(campaign, results, messages),
    });
    await endBy(reservations, committing);
    return undefined;
  } catch (error) {
    if (error instanceof DestinationLimitReached) {
      const covered = coveredByLimit(results, error);
      if (covered.length === 0) return "waits";
      // The limit has been raised in the meantime and covers the block. The caller tries it again.
      const isWhole = results.every((result, index) => result === covered[index]);
      return isWhole ? undefined : accept(campaign, covered);
    }
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "ORGANIZATION_SUSPENDED" || error.code === "SENDING_PAUSED") return error.code;
    if (error.code === "WALLET_MISSING") return error.code;
    if (error.code !== "INSUFFICIENT_BALANCE" && error.code !== "DAILY_SPEND_CAP_REACHED") throw error;
    const covered = await coveredResults(campaign.organizationId, results);
    // If not even the first message is covered, its own error decides whether the balance or the cap is the reason.
    if (covered.length === 0) {
      if (results.length > 1) return accept(campaign, results.slice(0, 1));
      if (error.code === "DAILY_SPEND_CAP_REACHED") return "waits";
      if (await hasLostDebit(campaign.organizationId)) throw new ApiError("UNAVAILABLE", { cause: error });
      return error.code;
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

/** Returns the writes that record a block: the progress of the campaign, the skipped contacts, and the reached numbers. */
function blockWrites(
  campaign: CampaignRecord,
  results: readonly RecipientResult[],
  accepted: readonly MessageRecord[],
): readonly [progress: Update<"campaign">, ...skipped: Write[]] {
  return [
    passBlock(campaign, blockOf(results, accepted)),
    ...skippedPut(campaign, results),
    ...reachedPut(campaign, accepted),
  ];
}

async function findLeased(leased: CampaignRecord): Promise<CampaignRecord | undefined> {
  const campaign = await findCampaign(leased.organizationId, leased.id);
  return campaign?.status === "sending" && campaign.leaseToken === leased.leaseToken ? campaign : undefined;
}
