import { editDistance } from "../../shared/contract/validation.ts";

/** More suggestions would not help. */
const maxSuggestions = 3;

/** A word counts as a misspelling of another when at most this part of its letters is wrong. */
const wrongShare = 0.4;

/** Those of the known names that were most likely meant, the nearest first. */
export function nearestOf(typed: string, known: readonly string[]): string[] {
  return known
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .filter(({ name, distance }) => distance <= wrongShare * Math.max(typed.length, name.length))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}
