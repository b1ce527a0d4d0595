import { worker } from "../../shared/platform/jobs/worker.ts";
import { WebhookJob } from "../../shared/webhooks/announce.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";

export const handler = worker(WebhookJob, dispatchWebhook);
