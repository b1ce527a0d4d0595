import { findCampaignCounts } from "../../messages/counts/counts.ts";
import { recount, type Look } from "../../messages/counts/recount.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { eventJob, owedEvent } from "../../notices/event-job.ts";
import { dayMs, now, secondMs } from "../../platform/clock.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { keys } from "../../platform/table/keys.ts";
import { messagesOf } from "../../platform/table/shards.ts";
import { transact } from "../../platform/table/transact.ts";
import { updateItem } from "../../platform/table/write.ts";
import { campaignJob } from "./campaign-job.ts";
import { CampaignRecord, complete, completedEvent, releaseRun } from "./record.ts";

/** The longest wait between two checks whether the last messages have ended. */
const maxWaitSeconds = 60;

/**
 * A counter may have lost a count. So the messages are also recounted without a sign from the counters. The first time is
 * after this interval, and then whenever half of the time waited has passed without a recount.
 */
const minLookIntervalMs = 10 * secondMs;

/** A message that has not ended after this time never will by itself, because the queues have dropped its job. */
const patienceMs = 5 * dayMs;

/** Completes a campaign when the last of its messages has ended, or schedules another check. */
export async function completeOrWait(campaign: CampaignRecord): Promise<void> {
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
