import { configuredCarrier } from "../../shared/carriers/configured.ts";
import { countOutcomes } from "../../shared/messages/counts.ts";
import { handToCarrier } from "../../shared/messages/hand-to-carrier.ts";
import { MessageJob } from "../../shared/messages/message-job.ts";
import { watchSending } from "../../shared/messages/sending-pause.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

const carrier = configuredCarrier();
const sending = watchSending();

export const handler = worker(
  MessageJob,
  async (job) => handToCarrier(job, carrier, await sending()),
  async (ended) => countOutcomes(ended.filter((message) => message !== undefined)),
);
