import { createHash, randomInt } from "node:crypto";

import { decodeTime, encodeTime } from "ulid";

import type { IdPrefix } from "../api/contract/primitives.ts";
import { now } from "./clock.ts";

/** Returns a new public id, for example `msg_01K4…`. Ids of one kind sort by the millisecond of their creation. */
export function newId(prefix: IdPrefix): string {
  return `${beginningOf(prefix, now())}${randomHalf()}${randomHalf()}`;
}

/** The end of the ids of test messages. Release 0.3.0 reads it as a shard that does not exist, and finds no message there. */
const testMark = "T";

/** Returns the id of a new test message, of an inbound test message, or of a verification of a test key. */
export function newTestId(prefix: "inb" | "msg" | "ver"): string {
  return `${newId(prefix)}${testMark}`;
}

/** Returns the id of the inbound test message that replies to a test message. The same message always gets the same reply. */
export function replyIdOf(testMessageId: string): string {
  return `${derivedId("inb", momentOf(testMessageId), testMessageId)}${testMark}`;
}

/** Whether an id is of a test message, or of an inbound test message. */
export function isTestId(id: string): boolean {
  return id.slice(id.indexOf("_") + 1 + ulidLength) === testMark;
}

/** Returns the id that is derived from a purpose alone, which is marked if it is of a test. */
export function fixedId(prefix: "bat" | "cnv", purpose: string, isTest = false): string {
  return `${derivedId(prefix, new Date(0), purpose)}${isTest ? testMark : ""}`;
}

/** Returns the field that marks a test message in the API. */
export function testMarkOf(id: string): { readonly test?: true } {
  return isTestId(id) ? { test: true } : {};
}

/** The digits of a ULID (Crockford's Base32). */
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const randomDigits = 16;
const ulidLength = 26;

/** Returns an id that is derived from a moment and a purpose. The same input always gets the same id. */
export function derivedId(prefix: IdPrefix, moment: Date, purpose: string): string {
  const hash = createHash("sha256").update(purpose).digest().subarray(0, randomDigits);
  return hash.reduce((id, byte) => id + digits[byte % digits.length], beginningOf(prefix, moment));
}

/** Returns the first characters of all ids of a moment. */
function beginningOf(prefix: IdPrefix, moment: Date): string {
  return `${prefix}_${encodeTime(moment.getTime())}`;
}

/** Returns half of the random digits. Node has bytes for such numbers in stock: to get them from the system takes longer. */
function randomHalf(): string {
  let rest = randomInt(digits.length ** (randomDigits / 2));
  let half = "";
  for (let index = 0; index < randomDigits / 2; index += 1) {
    half += digits[rest % digits.length];
    rest = Math.floor(rest / digits.length);
  }
  return half;
}

/** Returns a number from 0 to below `count` for an id. Its last character spreads ids over all shards. */
export function shardIndex(count: number, id: string): number {
  return id.charCodeAt(id.length - 1) % count;
}

/** Returns when an id was made. */
export function momentOf(id: string): Date {
  const start = id.indexOf("_") + 1;
  return new Date(decodeTime(id.slice(start, start + ulidLength)));
}

/** Returns a text that sorts before all ids from a moment on, and after all earlier ones. A moment before 1970 counts as 1970. */
export function firstIdAt(prefix: IdPrefix, moment: Date): string {
  return `${prefix}_${encodeTime(Math.max(0, moment.getTime()))}`;
}
