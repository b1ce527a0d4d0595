import { clearTimeout, setTimeout } from "node:timers";

import type { CallResult } from "../../carriers/breaker.ts";
import type { SubmitResult } from "../../carriers/carrier.ts";
import type { NamedCarrier } from "../../carriers/carriers.ts";
import { providerCodeOf } from "../../carriers/provider-code.ts";
import { trafficClass } from "../../carriers/traffic-class.ts";
import { now, secondMs } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { countMetrics, type CarrierMetricName } from "../../platform/metrics.ts";
import { countAttempt } from "../counts/arrivals.ts";
import { countryOfNumber } from "../destinations/numbering-plan.ts";
import type { Attempt } from "../message/attempts.ts";
import { effectsOf } from "../message/effects.ts";
import type { MessageRecord } from "../message/record.ts";
import { validitySeconds } from "../message/validity.ts";

/** The time for a carrier's response; after it, the outcome is unknown. A sender has time for two carriers. */
export const carrierTimeoutMs = 9 * secondMs;

/** The carrier's outcome, or that it did not return a reliable one. */
export type SubmitOutcome = SubmitResult | { readonly outcome: "unknown"; readonly errorName: string };

/** Submits a message to a carrier, once, and counts the outcome. @param text its text, with its code */
export async function submitToCarrier(
  message: MessageRecord,
  text: string,
  named: NamedCarrier,
): Promise<SubmitOutcome> {
  const response = await responseOf(message, text, named);
  const isBuffered = response.outcome === "accepted" && response.isBuffered === true;
  // An accepted message counts once it has been recorded as sent.
  if (response.outcome !== "accepted") countAttempt(message, named.name, metricOf(response));
  if (effectsOf(message).isCounted && (isBuffered || response.outcome === "unreachable")) {
    countMetrics(isBuffered ? { CarrierBuffered: 1 } : { CarrierUnreachable: 1 });
  }
  const { organizationId, id: messageId } = message;
  const { name: carrier } = named;
  if (response.outcome === "unreachable") {
    const { reason: errorCode, providerCode } = response;
    log.error("carrier.unreachable", { organizationId, messageId, carrier, errorCode, providerCode });
  }
  if (response.outcome === "unknown") {
    log.warn("carrier.outcome_unknown", {
      organizationId,
      messageId,
      carrier,
      errorCode: response.errorName,
    });
  }
  if (isBuffered) log.warn("carrier.buffered", { organizationId, messageId, carrier });
  return response;
}

async function responseOf(
  message: MessageRecord,
  text: string,
  { carrier }: NamedCarrier,
): Promise<SubmitOutcome> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    silence.reject(
      Object.assign(new Error("the carrier did not respond in time"), { name: "NoAnswerInTime" }),
    );
  }, carrierTimeoutMs);
  try {
    return await Promise.race([
      carrier.send({
        reference: `${message.organizationId}.${message.id}`,
        to: message.to,
        country: countryOfNumber(message.to),
        from: message.from ?? message.senderId,
        ...(message.from === undefined ? {} : { isFromNumber: true }),
        text,
        encoding: message.encoding,
        isPromotional: trafficClass(message) === "marketing",
        validitySeconds: validitySeconds(message),
      }),
      silence.promise,
    ]);
  } catch (error) {
    // Only its name: the message of a carrier's error may contain anything, including secrets.
    return { outcome: "unknown", errorName: error instanceof Error ? error.name : typeof error };
  } finally {
    clearTimeout(timer);
  }
}

function metricOf(response: SubmitOutcome): CarrierMetricName {
  switch (response.outcome) {
    case "accepted":
      return "CarrierAccepted";
    case "rejected":
      // A number that does not exist is no fault of the carrier or the stage.
      return response.errorCode === "MESSAGE_INVALID_DESTINATION"
        ? "CarrierInvalidDestinations"
        : "CarrierRejected";
    case "unreachable":
    case "throttled":
      return "CarrierThrottled";
    case "unknown":
      return "CarrierOutcomeUnknown";
  }
}

/**
 * Returns an outcome as an attempt to keep; undefined if the message is sent and its state shows the attempt.
 * @param startedAt when the attempt began
 */
export function attemptOf(carrier: string, response: SubmitOutcome, startedAt: Date): Attempt | undefined {
  const at = now().toISOString();
  switch (response.outcome) {
    case "accepted":
      if (response.isBuffered !== true) return undefined;
      return { at, carrier, outcome: "buffered", code: response.providerCode };
    case "rejected":
      return { at, carrier, outcome: "rejected", code: response.providerCode };
    case "throttled":
      return { at, carrier, outcome: "throttled", code: response.providerCode };
    case "unreachable":
      return {
        at,
        carrier,
        outcome: "unreachable",
        code: response.providerCode ?? providerCodeOf(response.reason),
      };
    case "unknown":
      return {
        at: startedAt.toISOString(),
        carrier,
        outcome: "unknown",
        code: providerCodeOf(response.errorName),
      };
  }
}

/** Half of the objective for codes: see `infra/SCALE.md`. A slower carrier delivers them too late. */
const slowMs = 5 * secondMs;

/** Returns what an outcome shows the breaker. Marketing may be slow. */
export function callResultOf(message: MessageRecord, response: SubmitOutcome, startedAt: Date): CallResult {
  if (response.outcome === "rejected" || response.outcome === "throttled") return "worked";
  if (response.outcome !== "accepted" || response.isBuffered === true) return "failed";
  const isSlow = now().getTime() - startedAt.getTime() >= slowMs && trafficClass(message) !== "marketing";
  return isSlow ? "slow" : "worked";
}
