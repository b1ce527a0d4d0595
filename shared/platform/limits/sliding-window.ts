import { createHash, randomBytes } from "node:crypto";

import * as z from "zod/mini";

import { epochSeconds, now } from "../clock.ts";
import { keys, type Key } from "../table/keys.ts";
import { type Outcome, updateItem, updateOf } from "../table/write.ts";
import { limitReached, type RateLimit } from "./rate-limit.ts";

/*
 * Exact limits over a sliding window: any period as long as the window has at most `max` uses. They are the members of
 * one set, so `max` is a few hundred at most.
 */

/** A use that was counted. */
export interface Use {
  readonly key: Key<"uses">;
  readonly id: string;
}

/** Each use is `<milliseconds since the epoch>#<random>`. */
export const Uses = z.object({ tries: z._default(z.set(z.string()), new Set()) });
type Uses = z.infer<typeof Uses>;

/** A use that counts once, however often it is repeated. */
export interface NamedUse {
  readonly name: string;
  readonly at: Date;
}

/**
 * Counts a use against a limit.
 * @throws ApiError with the limit's code when the limit is reached
 */
export async function consume(limit: RateLimit, subject: string): Promise<Use> {
  const result = await tryConsume(limit, subject);
  if ("waitMs" in result) throw limitReached(limit, result.waitMs);
  return result;
}

/**
 * Counts a use against a limit, or returns how long to wait when the limit is reached.
 * @param named without it, each call counts another use
 */
export async function tryConsume(
  limit: RateLimit,
  subject: string,
  named?: NamedUse,
): Promise<Use | { readonly waitMs: number }> {
  const at = now();
  const use: Use = {
    key: keys.uses(limit.name, createHash("sha256").update(subject).digest("hex")),
    id:
      named === undefined
        ? `${at.getTime()}#${randomBytes(6).toString("base64url")}`
        : `${named.at.getTime()}#${named.name}`,
  };
  let outcome = await add(use, limit, at);
  const left = outcome.applied ? [] : usesIn(outcome).filter(hasLeft(limit, at));
  if (left.length > 0) {
    // Old uses are removed only when the set is full. Until then a use costs one write, which no other use disturbs.
    await remove(use.key, left);
    outcome = await add(use, limit, at);
  }
  if (outcome.applied) return use;
  return { waitMs: Math.min(...usesIn(outcome).map(timeOf)) + limit.windowMs - at.getTime() };
}

/** Removes a use, when it turned out that the limit does not apply to it. */
export async function refund({ key, id }: Use): Promise<void> {
  await remove(key, [id]);
}

async function add({ key, id }: Use, limit: RateLimit, at: Date): Promise<Outcome<Uses>> {
  // Twice the window, because the writes of one moment may come in any order. A use may be in the future.
  const expiresAt = epochSeconds(new Date(Math.max(at.getTime(), timeOf(id)) + 2 * limit.windowMs));
  return updateItem(
    Uses,
    updateOf(
      key,
      { set: { entity: "limit", expiresAt }, add: { tries: new Set([id]) } },
      { anyOf: [{ absent: ["tries"] }, { sizeBelow: { tries: limit.max } }, { contains: { tries: id } }] },
    ),
    { isOwn: ({ tries }) => tries.has(id) },
  );
}

async function remove(key: Key<"uses">, ids: readonly string[]): Promise<void> {
  await updateItem(Uses, updateOf(key, { take: { tries: new Set(ids) } }, { present: ["tries"] }));
}

function usesIn({ found }: Extract<Outcome<Uses>, { applied: false }>): string[] {
  return [...Uses.parse(found).tries];
}

function hasLeft({ windowMs }: RateLimit, at: Date): (id: string) => boolean {
  return (id) => timeOf(id) <= at.getTime() - windowMs;
}

function timeOf(id: string): number {
  return Number.parseInt(id, 10);
}
