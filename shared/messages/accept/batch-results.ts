import { ApiError } from "../../api/contract/errors.ts";
import type { MessageRecord } from "../message/record.ts";
import type { Decided } from "./batch-block.ts";
import { rejectionOf, textOf } from "./batch-entry.ts";

/** The outcome of an entry of a batch: a message to accept, or the reason against it. */
export type Outcome = ApiError | MessageRecord;

export function isMessage(outcome: Outcome): outcome is MessageRecord {
  return !(outcome instanceof ApiError);
}

export function totalMicrosOf(messages: readonly MessageRecord[]): number {
  return messages.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
}

/** @throws ApiError the first error of a batch that is accepted as a whole or not at all */
export function requireAll(outcomes: readonly Outcome[]): void {
  const details = outcomes.flatMap((each, index) =>
    isMessage(each) ? [] : [{ path: `messages.${index}`, message: textOf(each) }],
  );
  const error = outcomes.find((each) => each instanceof ApiError);
  if (error !== undefined) throw new ApiError(error.code, { ...error.facts, details });
}

/** Returns the results of a block whose remaining messages are accepted. */
export function decidedOf(start: number, outcomes: readonly Outcome[]): Decided {
  const results = outcomes.map((each, offset) => {
    const index = start + offset;
    return isMessage(each) ? { index, id: each.id } : rejectionOf(index, each);
  });
  return { results, totalMicros: totalMicrosOf(outcomes.filter(isMessage)) };
}
