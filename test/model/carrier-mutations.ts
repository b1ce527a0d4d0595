import type { MessageJob } from "../../shared/messages/message/message-job.ts";
import { TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";

/** A protection of messages that a test removes, to show that the check would notice. */
export type CarrierMutation =
  | "lease condition"
  | "cost by carrier"
  | "deadline"
  | "order of inbound messages"
  | "reschedule time"
  | "first reschedule"
  | "receipt"
  | "repeat check";

/** Changes a request to the table before it is carried out. */
export function mutateRequest(mutation: CarrierMutation | undefined, command: object): void {
  if (mutation === "lease condition") forgetCarrierCondition(command);
  if (mutation === "order of inbound messages") forgetWordCondition(command);
}

/** @returns the table's response as the code sees it */
export function mutatedAnswer(mutation: CarrierMutation | undefined, answer: unknown): unknown {
  if (mutation === "order of inbound messages") return without("saidAt", answer);
  return mutation === "receipt" ? without("deliveryAt", answer) : answer;
}

/** @returns the job as it comes back from its queue */
export function mutatedJob(
  mutation: CarrierMutation | undefined,
  job: MessageJob,
  startedAt: Date,
): MessageJob {
  const { rescheduledSince, ...others } = job;
  if (rescheduledSince === undefined || mutation === "reschedule time") return others;
  return mutation === "first reschedule" ? { ...others, rescheduledSince: startedAt.toISOString() } : job;
}

/** A response of the table as if a field had never been written. */
function without(field: string, answer: unknown): unknown {
  if (answer === undefined) return undefined;
  return JSON.parse(JSON.stringify(answer, (name, value: unknown) => (name === field ? undefined : value)));
}

/** Lets an opt-out or opt-in be written whatever was written since it was decided. */
function forgetWordCondition(command: object): void {
  if (!(command instanceof TransactWriteCommand)) return;
  for (const { Update } of command.input.TransactItems ?? []) {
    if (String(Update?.Key?.["pk"]).startsWith("OPT_OUTS#")) delete Update?.ConditionExpression;
  }
}

/** Lets a lease be acquired regardless of earlier submissions to other carriers. */
function forgetCarrierCondition(command: object): void {
  if (!(command instanceof UpdateCommand)) return;
  const { ConditionExpression } = command.input;
  const others = ConditionExpression?.replace(/#openClaims = (:\w+) OR/, "#openClaims >= $1 OR");
  if (others !== undefined) command.input.ConditionExpression = others;
}
