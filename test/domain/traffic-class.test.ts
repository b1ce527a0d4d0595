import { expect, it } from "vitest";

import { Throughput, type Load } from "../../shared/carriers/throughput.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { accept, inOrder, ScriptedCarrier } from "../support/carriers.ts";
import { acceptBlock } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { openWallet } from "../support/wallets.ts";

/** Records for which traffic class throughput is reserved. */
class WatchedPaces extends Throughput {
  readonly taken: Load[] = [];

  override async reserve(carrier: string, segmentsPerSecond: number, load: Load): Promise<number> {
    this.taken.push(load);
    return super.reserve(carrier, segmentsPerSecond, load);
  }
}

it.each([
  [undefined, undefined, false],
  ["otp", undefined, false],
  ["transactional", undefined, false],
  ["marketing", undefined, true],
  ["transactional", "cmp_01J00000000000000000000000", true],
] as const)(
  "a message of type %s in campaign %s is marketing for its queue, throughput and carrier alike: %s",
  async (messageType, campaignId, isMarketing) => {
    const organizationId = await openWallet(1_000_000);
    const [message] = await acceptBlock(organizationId, 1, {
      messageType,
      ...(campaignId === undefined ? {} : { campaignId }),
    });
    const job = { organizationId, messageId: message?.id ?? "" };
    expect(await takeJobs("marketingSends")).toMatchObject(isMarketing ? [job] : []);
    expect(await takeJobs("transactionalSends")).toMatchObject(isMarketing ? [] : [job]);
    const carrier = new ScriptedCarrier(accept);
    const throughput = new WatchedPaces();
    await submitMessage(job, inOrder([{ name: "alpha", carrier, segmentsPerSecond: 1_000 }], { throughput }));
    expect(throughput.taken).toEqual([{ segments: 1, isMarketing }]);
    expect(carrier.received).toMatchObject([{ isPromotional: isMarketing }]);
  },
);
