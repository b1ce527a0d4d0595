/** More suggestions than these help nobody. */
const maxSuggestions = 3;

/** A word counts as a misspelling of another when at most this part of its letters is wrong. */
const wrongShare = 0.4;

/** Those of the known names that somebody most likely meant, the nearest first. */
export function nearestOf(typed: string, known: readonly string[]): string[] {
  return known
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ name, distance }) => distance <= wrongShare * Math.max(typed.length, name.length))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}

/** How many letters have to be put in, taken out or replaced to make one text of another (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, letter] of one.split("").entries()) {
    const next = [line + 1];
    for (const [column, otherLetter] of other.split("").entries()) {
      const replaced = (row[column] ?? 0) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
