import { createHash, randomBytes } from "node:crypto";

import * as z from "zod/mini";

import { ApiError, type ErrorCode } from "../../contract/errors.ts";
import { epochSeconds, now, secondMs } from "../clock.ts";
import { keys, type Key } from "../table/keys.ts";
import { updateItem, type Outcome } from "../table/table.ts";
import { updateOf } from "../table/update.ts";

/** So many tries in any stretch of time of a length. They stand in one item, so `max` is hundreds at the most. */
export interface Limit {
  readonly what: string;
  readonly max: number;
  readonly windowMs: number;
  /** The error of a try that finds no room, RATE_LIMITED where nothing is said. */
  readonly code?: ErrorCode;
}

/**
 * The headers that tell of a limit and what is left of it, as draft-ietf-httpapi-ratelimit-headers-10 writes them.
 * @param left `resetSeconds` is when there is more
 */
export function rateLimitHeaders(
  { what, max, windowMs }: Limit,
  left: { readonly remaining: number; readonly resetSeconds: number },
): Record<"RateLimit-Policy" | "RateLimit", string> {
  return {
    "RateLimit-Policy": `"${what}";q=${max};w=${windowMs / secondMs}`,
    RateLimit: `"${what}";r=${left.remaining};t=${left.resetSeconds}`,
  };
}

/** A try that was let through. */
export interface CountedTry {
  readonly key: Key;
  readonly id: string;
}

/** The tries that were let through: `<milliseconds since the epoch>#<random>` of each. */
const Tries = z.object({ tries: z._default(z.set(z.string()), new Set()) });
type Tries = z.infer<typeof Tries>;

/** A try that may be counted several times and is one: which it is, and when it was made. */
export interface NamedTry {
  readonly name: string;
  readonly at: Date;
}

/**
 * Counts one try against a limit. Any stretch of time as long as the limit's window has at most `max` of them.
 * @param named without it, each call counts another try
 * @throws ApiError with the limit's code and Retry-After when there is no room for this one
 */
export async function countTry(limit: Limit, whom: string, named?: NamedTry): Promise<CountedTry> {
  const at = now();
  const counted: CountedTry = {
    key: keys.limit(limit.what, createHash("sha256").update(whom).digest("hex")),
    id:
      named === undefined
        ? `${at.getTime()}#${randomBytes(6).toString("base64url")}`
        : `${named.at.getTime()}#${named.name}`,
  };
  let outcome = await add(counted, limit, at);
  const left = outcome.applied ? [] : triesIn(outcome).filter(hasLeft(limit, at));
  if (left.length > 0) {
    // What has left the window makes room only when the set is full: until then one blind write is all it takes, which
    // no try at the same time can disturb.
    await remove(counted.key, left);
    outcome = await add(counted, limit, at);
  }
  if (outcome.applied) return counted;
  const roomAt = Math.min(...triesIn(outcome).map(timeOf)) + limit.windowMs;
  const retryAfterSeconds = Math.max(1, Math.ceil((roomAt - at.getTime()) / secondMs));
  throw new ApiError(limit.code ?? "RATE_LIMITED", {
    headers: {
      "Retry-After": String(retryAfterSeconds),
      ...rateLimitHeaders(limit, { remaining: 0, resetSeconds: retryAfterSeconds }),
    },
  });
}

/** Takes a counted try back, for a try that turned out not to be one of those that the limit is for. */
export async function forgetTry({ key, id }: CountedTry): Promise<void> {
  await remove(key, [id]);
}

async function add({ key, id }: CountedTry, limit: Limit, at: Date): Promise<Outcome<Tries>> {
  // Twice the window, so that the item outlives its tries also where those of one moment are written in any order.
  const expiresAt = epochSeconds(new Date(at.getTime() + 2 * limit.windowMs));
  return updateItem(
    Tries,
    updateOf(
      key,
      { set: { entity: "limit", expiresAt }, add: { tries: new Set([id]) } },
      {
        where: "attribute_not_exists(#tries) OR size(#tries) < :max OR contains(#tries, :id)",
        values: { ":max": limit.max, ":id": id },
      },
    ),
    { isOwn: ({ tries }) => tries.has(id) },
  );
}

async function remove(key: Key, ids: readonly string[]): Promise<void> {
  await updateItem(Tries, updateOf(key, { take: { tries: new Set(ids) } }, { present: ["tries"] }));
}

function triesIn({ found }: Extract<Outcome<Tries>, { applied: false }>): string[] {
  return [...Tries.parse(found).tries];
}

function hasLeft({ windowMs }: Limit, at: Date): (id: string) => boolean {
  return (id) => timeOf(id) <= at.getTime() - windowMs;
}

function timeOf(id: string): number {
  return Number.parseInt(id, 10);
}
