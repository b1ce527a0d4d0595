import * as z from "zod/mini";

import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { EndingJob } from "../../shared/verifications/ending-job.ts";

export const handler = worker(z.union([MessageJob, EndingJob]), async (job) =>
  "verificationId" in job ? completeEnding(job) : refundMessage(job),
);
