import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { CreateCampaignRequest } from "../../shared/api/contract/campaigns.ts";
import { CampaignJob } from "../../shared/audience/campaigns/campaign-job.ts";
import { cancelCampaign } from "../../shared/audience/campaigns/cancel.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { advance } from "../support/clock.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { openOrganization } from "../support/wallets.ts";

/*
 * A campaign that is due has a scheduled job in the table, which runs it even if all jobs on its queue are lost.
 */

const start = new Date("2030-06-01T12:00:30Z");
const contactCount = 3;

let organizationId: string;
beforeEach(async () => {
  vi.setSystemTime(start);
  await useOwnTable();
  await inAllShards(releaseScheduledJobs);
  organizationId = await openOrganization(1_000_000);
});

async function createdCampaign(fields: Partial<CreateCampaignRequest> = {}): Promise<string> {
  return createCampaignTo(organizationId, contactCount, fields);
}

/** Makes all requests to the queues fail. */
function failQueue(): void {
  vi.spyOn(Sqs.prototype, "send").mockRejectedValue(new Error("the queue is down"));
}

/** Lets time pass. @returns the campaign jobs of the organization that the scheduler queues then */
async function releasedAfter(ms: number): Promise<CampaignJob[]> {
  advance(ms);
  await inAllShards(releaseScheduledJobs);
  const jobs = z.array(CampaignJob).parse(await takeJobs("campaigns"));
  return jobs.filter((job) => job.organizationId === organizationId);
}

it("a campaign whose jobs are all lost runs by its scheduled jobs, each of which schedules the next", async () => {
  const campaignId = await createdCampaign();
  failQueue();
  await launchCampaign(organizationId, campaignId);
  vi.restoreAllMocks();
  const scheduled = { organizationId, campaignId, isScheduled: true };
  expect(await releasedAfter(15 * minuteMs)).toEqual([]);
  expect(await releasedAfter(2 * minuteMs)).toEqual([scheduled]);
  // Its worker dies after the first block.
  await runCampaign(scheduled, { blocks: 1, blockSize: 2, timeMs: minuteMs });
  expect((await getCampaign(organizationId, campaignId)).progress.accepted).toBe(2);
  await takeJobs("campaigns");
  expect(await releasedAfter(17 * minuteMs)).toEqual([scheduled]);
  await runCampaign(scheduled, { blocks: 1, blockSize: 2, timeMs: minuteMs });
  expect((await getCampaign(organizationId, campaignId)).progress.accepted).toBe(contactCount);
  await takeJobs("campaigns");
  expect(await releasedAfter(17 * minuteMs)).toEqual([scheduled]);
});

it("neither a job on the queue nor a scheduled job of an ended campaign schedules another", async () => {
  const campaignId = await createdCampaign();
  await launchCampaign(organizationId, campaignId);
  expect(await takeJobs("campaigns")).toEqual([{ organizationId, campaignId }]);
  await runCampaign({ organizationId, campaignId }, { blocks: 1, blockSize: 1, timeMs: minuteMs });
  await takeJobs("campaigns");
  const [scheduled, ...others] = await releasedAfter(17 * minuteMs);
  expect(others).toEqual([]);
  await cancelCampaign(organizationId, campaignId);
  await runCampaign(scheduled ?? { organizationId, campaignId });
  expect(await releasedAfter(hourMs)).toEqual([]);
});

it("a run that cannot request the next one fails, so that its queue repeats the job", async () => {
  const campaignId = await createdCampaign();
  await launchCampaign(organizationId, campaignId);
  const run = async (): Promise<void> =>
    runCampaign({ organizationId, campaignId }, { blocks: 1, blockSize: 1, timeMs: minuteMs });
  // It is called with its own `this`.
  // oxlint-disable-next-line typescript/unbound-method
  const { send } = Sqs.prototype;
  vi.spyOn(Sqs.prototype, "send").mockImplementation(async function (this: Sqs, command: object) {
    if (JSON.stringify(command).includes("campaignId")) throw new Error("the queue is down");
    return Reflect.apply(send, this, [command]);
  });
  await expect(run()).rejects.toThrow("the queue is down");
  vi.restoreAllMocks();
  await run();
  expect((await getCampaign(organizationId, campaignId)).progress.accepted).toBe(2);
});

it("a campaign that is due after the longest delay of a queue waits in the table, and starts in its minute", async () => {
  const campaignId = await createdCampaign({ scheduledAt: "2030-06-01T14:00:00Z" });
  expect(await takeJobs("campaigns")).toEqual([]);
  expect(await releasedAfter(hourMs)).toEqual([]);
  const scheduled = { organizationId, campaignId, isScheduled: true };
  // By a fast clock.
  await runCampaign(scheduled);
  expect((await getCampaign(organizationId, campaignId)).status).toBe("scheduled");
  expect(await releasedAfter(hourMs)).toEqual([scheduled, scheduled]);
  await runCampaign(scheduled);
  expect((await getCampaign(organizationId, campaignId)).progress.accepted).toBe(contactCount);
});

it("a campaign that fails and is launched again in the same minute has one scheduled job", async () => {
  const campaignId = await createdCampaign();
  await launchCampaign(organizationId, campaignId);
  const set = { status: "failed", errorCode: "INSUFFICIENT_BALANCE" } as const;
  const failed = updateOf(keys.campaign(organizationId, campaignId), { set });
  await updateItem(z.unknown(), failed);
  await launchCampaign(organizationId, campaignId);
  await takeJobs("campaigns");
  expect(await releasedAfter(18 * minuteMs)).toHaveLength(1);
});
