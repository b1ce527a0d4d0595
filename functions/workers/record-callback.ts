import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { recordCallback } from "../../shared/messages/callbacks/record.ts";
import { countArrivals } from "../../shared/messages/counts/arrivals.ts";
import { countReceipts } from "../../shared/messages/counts/counts.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { noteUndeliveredOf } from "../../shared/verifications/undelivered.ts";

export const handler = worker(
  QueuedCallback,
  async (callback, { queuedAt }) => recordCallback(callback, queuedAt),
  {
    conclude: async (results) => {
      const heard = results.filter((receipt) => receipt !== undefined);
      const messages = heard.map(({ message }) => message);
      await Promise.all([countReceipts(heard), countArrivals(heard), noteUndeliveredOf(messages)]);
    },
  },
);
