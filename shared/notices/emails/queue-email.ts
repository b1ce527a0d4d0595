import type { QueuedJob } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";

/** Queues emails that a transaction has recorded. */
export async function queueOwedEmails(jobs: readonly QueuedJob[]): Promise<void> {
  await Promise.all(jobs.map(queueOwedEmail));
}

/** Queues an email that a transaction has recorded. A failure is only logged, because that record sends the email later. */
export async function queueOwedEmail(job: QueuedJob): Promise<void> {
  await enqueue(job).catch((error: unknown) => {
    log.warn("email.not_queued", { error });
  });
}
