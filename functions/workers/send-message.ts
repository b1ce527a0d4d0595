import { deliverMessage } from "../../shared/messages/deliver.ts";
import { MessageJob } from "../../shared/messages/message-job.ts";
import { worker } from "../../shared/platform/worker.ts";
import { configuredProvider } from "../../shared/providers/configured.ts";

const provider = configuredProvider();

export const handler = worker(MessageJob, async (job) => deliverMessage(job, provider));
