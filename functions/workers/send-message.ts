import { Breakers } from "../../shared/carriers/breaker.ts";
import { carriersOf } from "../../shared/carriers/carriers.ts";
import { cachedCarriers } from "../../shared/carriers/record.ts";
import { Throughput } from "../../shared/carriers/throughput.ts";
import { countSent } from "../../shared/messages/counts/arrivals.ts";
import { countOutcomes } from "../../shared/messages/counts/counts.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { cachedSending } from "../../shared/messages/send/sending-pause.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { findPresentCard } from "../../shared/money/prices/cost.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { stateOfOrganization, statesOfOrganizations } from "../../shared/tenancy/organizations/record.ts";
import { noteUndeliveredOf } from "../../shared/verifications/undelivered.ts";

const carriers = cachedCarriers();
const breakers = new Breakers();
const throughput = new Throughput();
const sending = cachedSending();

/** Submits queued messages to carriers. The messages of a batch share what is read about their organizations. */
export const handler = worker(
  MessageJob,
  async (job, { remainingTimeMs, batch: stateOf = stateOfOrganization }) => {
    // Before a lease is acquired: if a read failed after it, what the carrier did would count as unknown.
    const [book, present, rateCard] = await Promise.all([carriers(), sending(), findPresentCard()]);
    return submitMessage(job, {
      carriers: carriersOf(book),
      breakers,
      throughput,
      sending: present,
      rateCard,
      remainingTimeMs,
      // All jobs of a batch begin at the same time, and no lease is acquired before its organization has been read.
      stateOf,
    });
  },
  {
    begin: statesOfOrganizations,
    conclude: async (results) => {
      const ended = results.filter((message) => message !== undefined);
      await Promise.all([countOutcomes(ended), countSent(ended), noteUndeliveredOf(ended)]);
    },
  },
);
