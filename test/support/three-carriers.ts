import { expect } from "vitest";

import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import type { MessageJob } from "../../shared/messages/message/message-job.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { accept, named, ScriptedCarrier } from "./carriers.ts";
import { acceptedMessage } from "./messages.ts";
import { takeJobs } from "./queues.ts";

/** A message and three carriers with given responses. The last one accepts everything. */
export async function threeCarriers(
  first: () => SubmitResult,
  second: () => SubmitResult = accept,
  idempotent = false,
) {
  const alpha = new ScriptedCarrier(first, idempotent);
  const beta = new ScriptedCarrier(second, idempotent);
  const gamma = new ScriptedCarrier(accept, idempotent);
  const route = named({ alpha, beta, gamma });
  const asked = (): number[] => [alpha, beta, gamma].map(({ received }) => received.length);
  return { job: await acceptedMessage(), alpha, beta, gamma, route, asked };
}

/** Refunds a message as often as its queue requests it. @returns the balance of its wallet */
export async function balanceAfterRefunds(job: MessageJob): Promise<number> {
  for (const refund of await takeJobs("refunds")) {
    expect(refund).toEqual(job);
    await refundMessage(job);
  }
  return (await readWallet(job.organizationId)).balanceMicros;
}
