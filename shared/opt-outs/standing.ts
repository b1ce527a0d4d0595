import type { OptOut, OptOutSource } from "../contract/opt-outs.ts";

/*
 * What is known of a number's wishes, and how it changes. It needs no table, so that a model can run it.
 *
 * Two parties say whether a number has opted out, and each speaks for itself. The person's last word, STOP or START, is
 * decided by when they said it and not by when we heard it: replies arrive twice, late and in any order. The
 * organization's own note stands until the organization removes it.
 */

/** What a person answered, and when (ISO 8601, UTC). */
export interface PersonsWord {
  readonly word: "start" | "stop";
  readonly saidAt: string;
}

/** What an organization noted itself, and when (ISO 8601, UTC). */
export interface OwnNote {
  readonly source: Exclude<OptOutSource, "reply">;
  readonly createdAt: string;
}

export interface Wishes {
  readonly said?: PersonsWord | undefined;
  readonly noted?: OwnNote | undefined;
}

/** The last of two words by the time they were said. Of two of the same moment STOP counts: it can be lifted, a message cannot. */
export function lastWord(known: PersonsWord | undefined, heard: PersonsWord): PersonsWord {
  if (known === undefined || heard.saidAt > known.saidAt) return heard;
  if (heard.saidAt < known.saidAt) return known;
  return heard.word === "stop" ? heard : known;
}

/** Whether the person's last word was STOP: they get one-time codes only. */
export function hasSaidStop({ said }: Wishes): boolean {
  return said?.word === "stop";
}

/** The opt-out that is in force, if one is. The person's own word comes before the organization's note. */
export function optOutOf(phoneNumber: string, { said, noted }: Wishes): OptOut | undefined {
  if (said?.word === "stop") return { phoneNumber, source: "reply", createdAt: said.saidAt };
  return noted && { phoneNumber, source: noted.source, createdAt: noted.createdAt };
}
