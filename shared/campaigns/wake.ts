import * as z from "zod/mini";

import { minuteMs, now } from "../platform/clock.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { itemsOf, queryRows, undefinedIfUnreadable } from "../platform/table/table.ts";
import { wakeCampaign } from "./campaign-job.ts";
import { findCampaign } from "./record.ts";

/** What falls due within this is asked for with a delay, so that it starts on the second. */
const lookAheadMs = 2 * minuteMs;

/** A campaign that no run has had for so long has lost its job. */
const lostAfterMs = 2 * minuteMs;

/** Due campaigns that are looked at together, and in one round at the most. */
const batchSize = 100;
const maxBatches = 100;

const DueCampaign = z.object({
  entity: z.literal("dueCampaign"),
  dueAt: z.string(),
  organizationId: z.string(),
  campaignId: z.string(),
});

/**
 * Asks for a run of every campaign that falls due, and of those that are being sent but have lost their job, to a
 * crash or a queue that was down.
 * @returns how many runs it asked for
 */
export async function wakeDueCampaigns(): Promise<number> {
  const at = now().getTime();
  const { pk } = keys.dueCampaign("", "", "");
  const to = new Date(at + lookAheadMs).toISOString();
  let asked = 0;
  let after: string | undefined;
  for (let batch = 0; batch < maxBatches; batch += 1) {
    const rows = await queryRows(DueCampaign, { pk, to, after, limit: batchSize, consistent: true });
    const results = await Promise.all(itemsOf(rows).map(async (item) => wakeIfLost(item, at)));
    asked += results.filter(Boolean).length;
    if (rows.length < batchSize) return asked;
    after = rows.at(-1)?.key.sk;
  }
  log.warn("campaigns.too_many_due", { count: batchSize * maxBatches });
  return asked;
}

async function wakeIfLost(
  { dueAt, organizationId, campaignId }: z.infer<typeof DueCampaign>,
  at: number,
): Promise<boolean> {
  // One that cannot be read must not keep the others from their time.
  const campaign = await findCampaign(organizationId, campaignId).catch(undefinedIfUnreadable);
  if (campaign?.dueAt !== dueAt) return false;
  const { lastRunAt, runUntil = "" } = campaign;
  // One that is held, or waits on purpose, has a job for the time behind that.
  if (Date.parse(runUntil) > at) return false;
  if (lastRunAt !== undefined && at - Date.parse(lastRunAt) < lostAfterMs) return false;
  await wakeCampaign({ organizationId, campaignId }, secondsUntil(dueAt));
  return true;
}
