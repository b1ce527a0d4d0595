import type { QueuedJob } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";

/** Queues emails that are owed. */
export async function queueOwedEmails(jobs: readonly QueuedJob[]): Promise<void> {
  await Promise.all(jobs.map(queueOwedEmail));
}

/** Queues an email that is owed. A failure is logged and nothing else: what was written with the change sends it later. */
export async function queueOwedEmail(job: QueuedJob): Promise<void> {
  await enqueue(job).catch((error: unknown) => {
    log.warn("email.not_queued", { error });
  });
}
