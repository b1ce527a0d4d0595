import { workers } from "../../infra/stack/workers.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { maxClockErrorMs } from "./lambda.ts";

/** Senders give up on a throttled message after this time, plus the time until its next attempt. */
const maxPutOffMs = 6 * hourMs;
const attemptsApartMs = 20 * minuteMs;

/** The facts that the model knows of a message, independent of the table. */
export interface Facts {
  /** The carriers, and how often each accepted the message. */
  readonly takes: ReadonlyMap<string, number>;
  /** Whether carriers throttled it once or always, when there were no other faults. */
  readonly wasPutOff?: "for ever" | "once" | undefined;
  /** When a job of it was first worked on, and when a receipt was recorded that proves its acceptance. */
  readonly firstWorkedMs?: number | undefined;
  readonly provenMs?: number | undefined;
}

interface Verdict {
  /** All problems with the outcomes and the costs, in words. */
  readonly problems: readonly string[];
  /** The number of messages with each outcome. */
  readonly ends: ReadonlyMap<string, number>;
  /** The number of messages that only a receipt shows as sent. */
  readonly shownByReceipt: number;
  /** The price of all sent messages. */
  readonly sentMicros: number;
}

/** @param chargeOf the carriers' charge for a message, in micro-units */
export function judgeMessages(
  messages: readonly MessageRecord[],
  { factsOf, chargeOf }: { factsOf: (id: string) => Facts; chargeOf: (id: string) => number },
): Verdict {
  const problems: string[] = [];
  const ends = new Map<string, number>();
  const costs = { recorded: 0, charged: 0 };
  let sentMicros = 0;
  let shownByReceipt = 0;
  for (const message of messages) {
    const end = message.errorCode ?? message.status;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    problems.push(...problemsOf(message, factsOf(message.id)).map((problem) => `${message.id} ${problem}`));
    if (message.status !== "sent") continue;
    sentMicros += message.totalMicros;
    costs.recorded += message.costMicros ?? 0;
    costs.charged += chargeOf(message.id);
    if (message.carrierReference === undefined) shownByReceipt += 1;
  }
  if (costs.recorded !== costs.charged)
    problems.push(`the costs are ${costs.recorded}, and the carriers charge ${costs.charged}`);
  return { problems, ends, shownByReceipt, sentMicros };
}

/** The problems with the outcome of a message, in words. */
function problemsOf(message: MessageRecord, facts: Facts): string[] {
  const { status, errorCode, refund, carrier = "" } = message;
  const takes = [...facts.takes.values()].reduce((sum, count) => sum + count, 0);
  const problems = takes > 1 ? [`was accepted ${takes} times`] : [];
  if (facts.wasPutOff === "once" && status !== "sent") problems.push("was throttled once, and is not sent");
  if (facts.wasPutOff === "for ever" && errorCode !== "MESSAGE_PROVIDER_ERROR") {
    problems.push(`was always throttled, and ended as ${errorCode ?? status}`);
  }
  if (status === "sent") {
    if (takes === 0) problems.push("is sent, and no carrier has it");
    if ((facts.takes.get(carrier) ?? 0) === 0) problems.push(`is sent by ${carrier}, which does not have it`);
    return problems;
  }
  if (status !== "failed" || refund !== "done") {
    return [...problems, `is ${status}, its refund ${refund ?? "not owed"}`];
  }
  if (takes > 0 && errorCode !== "MESSAGE_OUTCOME_UNKNOWN") {
    problems.push(`failed with ${errorCode}, and was taken`);
  }
  return [...problems, ...problemsOfTime(message, facts)];
}

/** Whether a message failed too early, too late, or against known facts. */
function problemsOfTime(message: MessageRecord, facts: Facts): string[] {
  const { errorCode, rejectedBy = [], carrier, deliveryCarrier } = message;
  const problems: string[] = [];
  const failedAtMs = Date.parse(message.failedAt ?? "");
  const workedForMs = failedAtMs - (facts.firstWorkedMs ?? failedAtMs);
  const isPutOff = errorCode === "MESSAGE_PROVIDER_ERROR" && rejectedBy.length < facts.takes.size;
  if (isPutOff && workedForMs < maxPutOffMs - 2 * maxClockErrorMs) {
    problems.push(`failed with ${errorCode} after ${workedForMs} ms`);
  }
  if (workedForMs > maxPutOffMs + attemptsApartMs) problems.push(`failed only after ${workedForMs} ms`);
  // A sender works for at most its timeout after it has read the message.
  const seenAtMs = failedAtMs - 2 * maxClockErrorMs - workers.sendMessage.timeoutSeconds * secondMs;
  if (deliveryCarrier === carrier && (facts.provenMs ?? Infinity) < seenAtMs) {
    problems.push(`failed with ${errorCode}, and its receipt had come`);
  }
  return problems;
}
