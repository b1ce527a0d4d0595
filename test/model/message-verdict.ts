import { workers } from "../../infra/workers.ts";
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

/** The problems with the outcome of a message, in words. */
export function problemsOf(message: MessageRecord, facts: Facts): string[] {
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
