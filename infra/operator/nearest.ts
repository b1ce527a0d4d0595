import { editDistance } from "../../shared/api/contract/validation.ts";

const maxSuggestions = 3;

/** The largest share of a word's letters that may differ in a suggestion. */
const maxDifference = 0.4;

/** The known names that are most similar to a misspelled one, most similar first. */
export function nearestOf(typed: string, known: readonly string[]): string[] {
  return known
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .filter(({ name, distance }) => distance <= maxDifference * Math.max(typed.length, name.length))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}
