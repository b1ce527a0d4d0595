import { beforeEach, expect, it, vi } from "vitest";

import type { Finding } from "../../shared/figures/deliveries/watch.ts";
import { emailFindings } from "../../shared/figures/operators/carrier-findings.ts";
import { operatorsText } from "../../shared/figures/operators/report.ts";
import { EmailJob } from "../../shared/notices/emails/email-kinds.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { advance } from "../support/clock.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";

beforeEach(async () => {
  vi.setSystemTime(new Date("2030-06-01T12:00:30Z"));
  await useOwnTable();
});

const missing: Finding = {
  event: "carrier.receipts_missing",
  carrier: "acme",
  country: "SN",
  count: 306,
  share: 0,
  usualShare: 0.93,
};
const failing: Finding = {
  event: "carrier.failing",
  carrier: "london",
  count: 40,
  share: 0.5,
  usualShare: 0.98,
};

/** The subjects and lines of the emails that are queued now. */
async function emails(): Promise<(readonly string[])[]> {
  const jobs = (await takeJobs("emails")).map((job) => EmailJob.parse(job));
  const notices = jobs.flatMap((job) => (job.kind === "operators" ? job.notice : []));
  const texts = await Promise.all(notices.map(operatorsText));
  return texts.map((text) => [text?.subject ?? "", ...(text?.paragraphs.slice(1) ?? [])]);
}

it("a finding is emailed with the names of the carrier and the country, once a day", async () => {
  await emailFindings([missing]);
  expect(await emails()).toEqual([
    [
      "local: carrier.receipts_missing acme SN: 0.0 %, usual 93.0 %",
      "carrier.receipts_missing acme SN: 0.0 %, usual 93.0 %",
    ],
  ]);
  advance(5 * minuteMs);
  await emailFindings([missing]);
  expect(await emails()).toEqual([]);
  advance(dayMs);
  await emailFindings([missing]);
  expect(await emails()).toHaveLength(1);
});

it("the new findings of a look are one email", async () => {
  await emailFindings([missing]);
  await emails();
  advance(5 * minuteMs);
  await emailFindings([missing, failing, { ...failing, carrier: "acme", country: "DE" }]);
  expect(await emails()).toEqual([
    [
      "local: 2 findings about carriers",
      "carrier.failing acme DE: 50.0 %, usual 98.0 %",
      "carrier.failing london all countries: 50.0 %, usual 98.0 %",
    ],
  ]);
});
