import { Breakers } from "../../shared/carriers/breaker.ts";
import type { Carrier } from "../../shared/carriers/carrier.ts";
import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { recordCallback } from "../../shared/messages/callbacks/record.ts";
import { countOutcomes, countReceipts } from "../../shared/messages/counts/counts.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { inOrder } from "../support/carriers.ts";
import type { Handler } from "./lambda.ts";

/*
 * The functions of this release that submit messages and record callbacks. The model runs those of another release beside
 * them. So an exported function keeps its name and parameters for one release.
 */

interface Sending {
  /** Returns the carriers of the one route, in their order. */
  readonly route: () => readonly { readonly name: string; readonly carrier: Carrier }[];
  /** The carriers' prices for a segment to any British number. */
  readonly costMicros: Readonly<Record<string, number>>;
  /** Whether the function has a circuit breaker. */
  readonly hasBreaker: boolean;
  /** Receives the id of a message before the function works on it. */
  readonly begins: (messageId: string) => void;
}

/** Returns an instance of the function that submits messages. */
export function newSender({ route, costMicros, hasBreaker, begins }: Sending): Handler {
  const rateCard = new RateCard(documentOf([{ prefix: "44", priceMicros: 1, costMicros }]));
  const others = { ...(hasBreaker && { breakers: new Breakers() }), rateCard };
  return worker(
    MessageJob,
    async (job, { remainingTimeMs }) => {
      begins(job.messageId);
      return submitMessage(job, inOrder(route(), { ...others, remainingTimeMs }));
    },
    { conclude: async (ended) => countOutcomes(ended.filter((message) => message !== undefined)) },
  );
}

/** Returns an instance of the function that records callbacks. @param proves receives the message of a recorded receipt */
export function newRecorder(proves: (message: { id: string; deliveryStatus?: unknown }) => void): Handler {
  return worker(
    QueuedCallback,
    async (report, { queuedAt }) => {
      const recorded = await recordCallback(report, queuedAt);
      if (recorded !== undefined) proves(recorded.message);
      return recorded;
    },
    { conclude: async (recorded) => countReceipts(recorded.filter((receipt) => receipt !== undefined)) },
  );
}

export async function refund(job: unknown): Promise<void> {
  await refundMessage(MessageJob.parse(job));
}
