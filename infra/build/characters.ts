import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

import { Blob, Face } from "harfbuzzjs";

import { fontFile, fontsFor } from "../../shared/money/invoices/fonts.ts";
import { projectRoot } from "./project-root.ts";

/*
 * `npm run characters` reads which characters documents can show, after an update of a font. Functions check names with this
 * list, because the fonts have a hundred times its size.
 */

const require = createRequire(import.meta.url);

/** The characters of each font that was read. */
const fonts = new Map<string, Set<number>>();

function charactersOf(font: string): Set<number> {
  const found =
    fonts.get(font) ??
    new Set(new Face(new Blob(readFileSync(require.resolve(fontFile(font))))).collectUnicodes());
  fonts.set(font, found);
  return found;
}

/** Returns the ranges of characters: the distance from the end of the one before, and the length, in base 36. */
export function readRanges(): string {
  const ranges: string[] = [];
  let last = 0;
  for (let first = 0x20; first <= 0x10_ff_ff; first += 1) {
    if (!isDrawable(first)) continue;
    const gap = (first - last).toString(36);
    for (last = first; isDrawable(last + 1);) last += 1;
    ranges.push(last === first ? gap : `${gap}-${(last - first).toString(36)}`);
    first = last;
  }
  return ranges.join(" ");
}

function isDrawable(point: number): boolean {
  if (point >= 0xd8_00 && point <= 0xdf_ff) return false;
  const character = String.fromCodePoint(point);
  // No one sees them, or each font has another picture.
  if (/\p{C}|\p{DI}/u.test(character)) return false;
  return ["regular", ...fontsFor(character)].some((font) => charactersOf(font).has(point));
}

if (import.meta.main) {
  const file = path.join(projectRoot, "shared/money/invoices/characters.json");
  await writeFile(file, `${JSON.stringify({ ranges: readRanges() }, null, 2)}\n`);
}
