import { createHash } from "node:crypto";

import { decodeTime, encodeTime, ulid } from "ulid";

import type { IdPrefix } from "../contract/primitives.ts";
import { now } from "./clock.ts";

/** A new public id, for example `msg_01K4…`; ids of one kind sort by the millisecond of their creation. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${ulid(now().getTime())}`;
}

/** The digits of a ULID (Crockford's Base32). */
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const randomDigits = 16;

/** An id that follows from a moment and what it is for: whoever makes it again gets the same. */
export function derivedId(prefix: IdPrefix, moment: Date, purpose: string): string {
  const hash = createHash("sha256").update(purpose).digest().subarray(0, randomDigits);
  return `${prefix}_${encodeTime(moment.getTime())}${[...hash].map((byte) => digits[byte % digits.length]).join("")}`;
}

/** A number from 0 to below `count` that follows from an id: its last character is random, and spreads ids evenly. */
export function spreadOver(count: number, id: string): number {
  return id.charCodeAt(id.length - 1) % count;
}

/** An id of a message as one in so many parts, of which its last random character decides. */
export function inParts(messageId: string, parts: number): string {
  const part = spreadOver(parts, messageId);
  return part === 0 ? messageId : `${messageId}${part}`;
}

/** When an id was made. */
export function momentOf(id: string): Date {
  return new Date(decodeTime(id.slice(id.indexOf("_") + 1)));
}

/** What sorts before every id that is made at a moment or later, and behind those made before it. None is older than 1970. */
export function firstIdAt(prefix: IdPrefix, moment: Date): string {
  return `${prefix}_${encodeTime(Math.max(0, moment.getTime()))}`;
}
