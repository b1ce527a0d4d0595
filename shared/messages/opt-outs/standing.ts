import type { OptOut, OptOutSource } from "../../api/contract/opt-outs.ts";

/*
 * A number's wishes, and how they change. The module needs no table, so that a model can run it.
 *
 * Two parties decide whether a number has opted out, independently of each other. The person's last word is STOP or
 * START. It is the one with the latest time, not the one that arrived last, because replies arrive twice, late and in
 * any order. The organization's own note stays until the organization removes it.
 */

/** A person's reply, and its time (ISO 8601, UTC). */
export interface PersonsWord {
  readonly word: "start" | "stop";
  readonly saidAt: string;
}

/** An organization's own note, and its time (ISO 8601, UTC). */
export interface OwnNote {
  readonly source: Exclude<OptOutSource, "reply">;
  readonly createdAt: string;
}

export interface Wishes {
  readonly said?: PersonsWord | undefined;
  readonly noted?: OwnNote | undefined;
}

/**
 * Returns the later of two words. At the same time STOP wins, because it can be lifted, but a sent message cannot be
 * unsent.
 */
export function lastWord(known: PersonsWord | undefined, heard: PersonsWord): PersonsWord {
  if (known === undefined || heard.saidAt > known.saidAt) return heard;
  if (heard.saidAt < known.saidAt) return known;
  return heard.word === "stop" ? heard : known;
}

/** Whether the person's last word was STOP. The person then receives one-time codes only. */
export function hasSentStop({ said }: Wishes): boolean {
  return said?.word === "stop";
}

/** Returns the opt-out that is in force, if any. The person's own word has priority over the organization's note. */
export function optOutOf(phoneNumber: string, { said, noted }: Wishes): OptOut | undefined {
  if (said?.word === "stop") return { phoneNumber, source: "reply", createdAt: said.saidAt };
  return noted && { phoneNumber, source: noted.source, createdAt: noted.createdAt };
}
