import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(MessageJob, refundMessage);
