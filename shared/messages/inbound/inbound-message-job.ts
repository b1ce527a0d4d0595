import * as z from "zod/mini";

import type { QueuedJob } from "../../platform/jobs/job.ts";

/** The job that stores an inbound message. */
export const InboundMessageJob = z.object({
  kind: z.literal("inbound"),
  callbackId: z.string(),
  carrier: z.string(),
  carrierId: z.string(),
  from: z.string(),
  to: z.string(),
  message: z.string(),
  receivedAt: z.string(),
  /** The organizations that it is for, among those that share the number; undefined for all of them. */
  organizationIds: z.optional(z.readonly(z.array(z.string()))),
});
type InboundMessageJob = z.infer<typeof InboundMessageJob>;

/** The job that stores an inbound test message. */
export const TestInboundJob = z.object({
  kind: z.literal("testInbound"),
  organizationId: z.string(),
  id: z.string(),
  from: z.string(),
  to: z.string(),
  message: z.string(),
  receivedAt: z.string(),
});
export type TestInboundJob = z.infer<typeof TestInboundJob>;

/** Returns the job that stores an inbound test message. */
export function testInboundJob(inbound: Omit<TestInboundJob, "kind">): QueuedJob {
  const body: TestInboundJob = { kind: "testInbound", ...inbound };
  return { queue: "carrierCallbacks", group: inbound.organizationId, body };
}

/** Returns the job that stores an inbound message for some of the organizations that share its number. */
export function inboundMessageJob(inbound: Omit<InboundMessageJob, "kind">): QueuedJob {
  const body: InboundMessageJob = { kind: "inbound", ...inbound };
  return { queue: "carrierCallbacks", group: inbound.carrier, body };
}
