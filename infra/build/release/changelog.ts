const unreleased = "## Unreleased\n";

/**
 * Returns the section of one version without its heading; that of the unreleased changes for a version such as `0.5.0-dev.0`.
 * @throws Error if the changelog has no such section, or an empty one
 */
export function notesOf(changelog: string, version: string): string {
  const heading = version.includes("-") ? "Unreleased" : version.replaceAll(".", "\\.");
  const [, rest] = changelog.split(new RegExp(`^## ${heading}(?: .*)?$`, "m"));
  const notes = rest?.split(/^## /m)[0]?.trim();
  if (notes === undefined || notes === "") throw new Error(`CHANGELOG.md has no notes for ${version}`);
  return `${notes}\n`;
}

/**
 * Gives the unreleased section the version and the date of a release, and starts a new one.
 * @param date as YYYY-MM-DD
 * @throws Error if nothing is unreleased
 */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  const [before, after] = changelog.split(unreleased);
  const isEmpty = after === undefined || after.split(/^## /m)[0]?.trim() === "";
  if (before === undefined || isEmpty) throw new Error("CHANGELOG.md has nothing under Unreleased");
  return `${before}${unreleased}\n## ${version} (${date})\n${after}`;
}
