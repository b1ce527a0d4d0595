import { worker } from "../../shared/platform/jobs/worker.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";

export const handler = worker(WebhookJob, dispatchWebhook);
