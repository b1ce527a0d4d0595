import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { recordCallback } from "../../shared/messages/callbacks/record.ts";
import { countReceipts } from "../../shared/messages/counts/counts.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(
  QueuedCallback,
  async (callback, _remainingTimeMs, queuedAt) => recordCallback(callback, queuedAt),
  async (heard) => countReceipts(heard.filter((receipt) => receipt !== undefined)),
);
