/** Returns the next number of a sequence that follows from its seed, from 0 to below 1. */
export type Random = () => number;

/** Returns the sequence of a seed: mulberry32, which is small and sufficiently even. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses one of several values, each with the same likelihood. */
export function oneOf<Thing>(random: Random, things: readonly Thing[]): Thing {
  const thing = things[Math.floor(random() * things.length)];
  if (thing === undefined) throw new Error("there is nothing to choose from");
  return thing;
}

/** Chooses an integer between two, both included. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** Chooses one of several cases by their likelihood, or none of them. */
export function caseOf<Case extends string>(
  random: Random,
  odds: Readonly<Record<Case, number>>,
): Case | undefined {
  let left = random();
  for (const name in odds) {
    left -= odds[name];
    if (left < 0) return name;
  }
  return undefined;
}
