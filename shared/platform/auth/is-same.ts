import { createHash, timingSafeEqual } from "node:crypto";

/** Compares two texts, one of them secret, in a time that depends neither on their content nor on their lengths. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
