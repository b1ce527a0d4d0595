import { sendEmail } from "../../shared/accounts/send-email.ts";
import { EmailJob } from "../../shared/emails/email-job.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(EmailJob, sendEmail);
