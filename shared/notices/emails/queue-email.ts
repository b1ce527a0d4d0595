import type { QueuedJob } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { transact, type NamedWrites } from "../../platform/table/transact.ts";
import { owedEmail, type QueuedEmail } from "./email-job.ts";

/**
 * Writes all or nothing, with the emails that this causes, and then queues them.
 * @throws ApiError UNAVAILABLE when it only met other transactions: nothing was written
 */
export async function transactWithEmails<Name extends string>(
  emails: readonly QueuedEmail[],
  writes: NamedWrites<Name>,
): ReturnType<typeof transact<Name | "emails">> {
  const written = await transact<Name | "emails">({ ...writes, emails: emails.map(owedEmail) });
  if (written.outcome === "committed") await queueOwedEmails(emails);
  return written;
}

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
