import { ApiError, type ErrorCode } from "../../shared/api/contract/errors.ts";

interface Sent {
  readonly accepted: number;
  /** How often each error came. */
  readonly rejected: { readonly [Code in ErrorCode]?: number };
  readonly retryAfter: ReadonlySet<number | undefined>;
}

/** Makes `count` sends in parallel. */
export async function sendAtOnce(count: number, one: () => Promise<unknown>): Promise<Sent> {
  const results = await Promise.allSettled(Array.from({ length: count }, one));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const refusals = errors.map((error) => {
    if (!(error instanceof ApiError)) throw error;
    return error;
  });
  const byCode = Map.groupBy(refusals, ({ code }) => code);
  return {
    accepted: count - errors.length,
    rejected: Object.fromEntries([...byCode].map(([code, each]) => [code, each.length])),
    retryAfter: new Set(refusals.map(({ facts }) => facts.retryAfterSeconds)),
  };
}

/** Makes `count` sends in parallel. @returns the number of accepted ones */
export async function acceptedOf(count: number, one: () => Promise<unknown>): Promise<number> {
  return (await sendAtOnce(count, one)).accepted;
}
