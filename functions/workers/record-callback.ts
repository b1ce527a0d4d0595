import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { recordCallback } from "../../shared/messages/callbacks/record.ts";
import { countArrivals } from "../../shared/messages/counts/arrivals.ts";
import { countReceipts } from "../../shared/messages/counts/counts.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(
  QueuedCallback,
  async (callback, _remainingTimeMs, queuedAt) => recordCallback(callback, queuedAt),
  async (results) => {
    const heard = results.filter((receipt) => receipt !== undefined);
    await Promise.all([countReceipts(heard), countArrivals(heard)]);
  },
);
