import * as z from "zod/mini";

import { sendEmail } from "../../shared/accounts/emails/send-email.ts";
import { EmailJob } from "../../shared/notices/emails/email-kinds.ts";
import { EmailFeedback, recordFeedback } from "../../shared/notices/emails/feedback.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(z.union([EmailJob, EmailFeedback]), async (queued) =>
  queued.kind === "feedback" ? recordFeedback(queued) : sendEmail(queued),
);
