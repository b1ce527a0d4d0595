import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import bidiFactory from "bidi-js";
import { Blob, Buffer, Direction, Face, Feature, Font, shape } from "harfbuzzjs";

import { fontFile, fontsFor } from "./fonts.ts";

/*
 * The lines of a document's texts: which font draws each character, and the order of the characters. HarfBuzz chooses and
 * places the glyphs, because fontkit, which pdfkit has for that, fails at marks of several scripts.
 */

const require = createRequire(import.meta.url);

/** A part of a line that has one font and one direction. */
interface Run {
  readonly font: string;
  readonly text: string;
  readonly direction: Direction;
}

/** A line, with its parts from left to right. All lengths are in points. */
export interface Line {
  readonly runs: readonly Run[];
  readonly width: number;
  readonly ascent: number;
  readonly height: number;
}

/** How a text looks. */
export interface TextStyle {
  readonly size: number;
  /** Only Inter is also bold. */
  readonly font: "bold" | "regular";
  /** Features of OpenType, such as digits of the same width. */
  readonly features?: PDFKit.Mixins.OpenTypeFeatures[];
  /** The country of the person that the text names. */
  readonly country?: string | undefined;
}

/** A font, as pdfkit keeps it. Its lengths are in thousandths of the size. */
interface OpenFont {
  readonly ascender: number;
  readonly descender: number;
  readonly lineGap: number;
  readonly scale: number;
  readonly font: { hasGlyphForCodePoint(codePoint: number): boolean };
  readonly subset: {
    readonly glyphs: number[];
    readonly mapping: Record<string, number>;
    includeGlyph(id: number | string): number;
  };
  layoutRun: (text: string, features: string[]) => object;
}

/** Shown for a character that no font has. */
const fallbackCharacter = "\u25A1";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const words = new Intl.Segmenter("en", { granularity: "word" });
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The types are of an ES module, and Node loads another.
const createBidi = bidiFactory as unknown as typeof bidiFactory.default;
const bidi = createBidi();

/** The fonts that HarfBuzz has read, which takes longer than a document. */
const shapers = new Map<string, Font>();

/** Breaks texts into lines, and draws them. Opens a font when a text first needs it. */
export class PdfText {
  readonly #pdf: PDFKit.PDFDocument;
  readonly #open = new Map<string, OpenFont>();
  /** The direction of the run that pdfkit measures or draws. */
  #direction: Direction = Direction.LTR;

  constructor(pdf: PDFKit.PDFDocument) {
    this.#pdf = pdf;
  }

  /** Returns the lines of a text in a column. A control is a space, and a character that no font has is a box. */
  linesOf(written: string, style: TextStyle, width: number): Line[] {
    const text = written.normalize("NFC").replaceAll(/\p{Cc}+/gu, " ");
    const base = bidi.getEmbeddingLevels(text).paragraphs[0]?.level === 1 ? "rtl" : "ltr";
    const lineOf = (part: string): Line => this.#line(part.trimEnd(), text, style, base);
    const whole = lineOf(text);
    if (whole.width <= width) return [whole];
    const lines: Line[] = [];
    let line = "";
    for (const part of partsOf(text)) {
      if (lineOf(line + part).width <= width) {
        line += part;
        continue;
      }
      if (line !== "") lines.push(lineOf(line));
      line = "";
      for (const { segment } of graphemes.segment(part)) {
        const isFull = line !== "" && lineOf(line + segment).width > width;
        if (isFull) lines.push(lineOf(line));
        line = isFull ? segment : line + segment;
      }
    }
    return [...lines, lineOf(line)];
  }

  /** Draws a line with its baseline at a height. */
  draw({ runs }: Line, style: TextStyle, left: number, baseline: number): void {
    const { features = [] } = style;
    let x = left;
    for (const run of runs) {
      const width = this.#widthOf(run, style);
      const options = { lineBreak: false, baseline: "alphabetic", features } as const;
      this.#pdf.text(run.text, x, baseline, options);
      x += width;
    }
  }

  /** Makes the font and the size of a run the present ones, and returns its width. */
  #widthOf({ font, text, direction }: Run, { size, features = [] }: TextStyle): number {
    this.#opened(font);
    this.#direction = direction;
    return this.#pdf.fontSize(size).widthOfString(text, { features });
  }

  #line(part: string, whole: string, style: TextStyle, base: "ltr" | "rtl"): Line {
    const { text, fonts } = this.#withFonts(part, whole, style);
    const runs = runsOf(text, fonts, base);
    const used = Array.from(new Set([style.font, ...fonts]), (font) => this.#opened(font));
    const most = (value: (font: OpenFont) => number): number =>
      (Math.max(...used.map(value)) * style.size) / 1_000;
    const ascent = most(({ ascender }) => ascender);
    const height = ascent + most(({ descender, lineGap }) => lineGap - descender);
    const width = runs.reduce((sum, run) => sum + this.#widthOf(run, style), 0);
    return { runs, width, ascent, height };
  }

  /** Returns what is drawn instead of a text, and the font of each of its UTF-16 units. */
  #withFonts(
    part: string,
    whole: string,
    { font, country }: TextStyle,
  ): { readonly text: string; readonly fonts: readonly string[] } {
    const fonts: string[] = [];
    const fontOf = (characters: string): string | undefined => {
      const needed = Array.from(characters).filter((each) => !/\p{DI}/u.test(each));
      const has = (name: string): boolean =>
        needed.every((each) => this.#opened(name).font.hasGlyphForCodePoint(each.codePointAt(0) ?? 0));
      return has(font) ? font : fontsFor(characters, whole, country).find(has);
    };
    let text = "";
    const add = (characters: string, name: string): void => {
      text += characters;
      while (fonts.length < text.length) fonts.push(name);
    };
    for (const { segment } of graphemes.segment(part)) {
      // A space belongs to the word before it, so that the words of a script are one run.
      const one = (segment === " " ? fonts.at(-1) : undefined) ?? fontOf(segment);
      const each = Array.from(segment, (character) => [character, one ?? fontOf(character)] as const);
      if (each.some(([, name]) => name === undefined)) add(fallbackCharacter, font);
      else for (const [character, name = font] of each) add(character, name);
    }
    return { text, fonts };
  }

  /** Makes a font the present one. */
  #opened(name: string): OpenFont {
    const file = require.resolve(fontFile(name));
    this.#pdf.font(file);
    const opened: OpenFont = this.#open.get(name) ?? Object(Reflect.get(this.#pdf, "_font"));
    if (this.#open.has(name)) return opened;
    this.#open.set(name, opened);
    const shaper = shapers.get(name) ?? new Font(new Face(new Blob(readFileSync(file))));
    shapers.set(name, shaper);
    // A glyph stands for several characters, for example for all letters of one shape without their dots. A copied text has
    // the right ones if each has a number of its own in the file.
    const { subset } = opened;
    subset.includeGlyph = (id) => (subset.mapping[id] ??= subset.glyphs.push(parseInt(String(id), 10)) - 1);
    opened.layoutRun = (text, features) => glyphRunOf(opened, shaper, text, features, this.#direction);
    return opened;
  }
}

/** Returns the glyphs of a text, as pdfkit wants them from fontkit. */
function glyphRunOf(
  { scale }: OpenFont,
  shaper: Font,
  text: string,
  features: string[],
  direction: Direction,
): object {
  const buffer = new Buffer();
  buffer.addText(text);
  buffer.guessSegmentProperties();
  buffer.setDirection(direction);
  shape(
    shaper,
    buffer,
    features.map((tag) => new Feature(tag)),
  );
  const infos = buffer.getGlyphInfos();
  const positions = buffer.getGlyphPositions().map(({ xAdvance, yAdvance, xOffset, yOffset }, index) => ({
    xAdvance: xAdvance * scale,
    yAdvance: yAdvance * scale,
    xOffset: xOffset * scale,
    yOffset: yOffset * scale,
    advanceWidth: shaper.glyphHAdvance(infos[index]?.codepoint ?? 0) * scale,
  }));
  const codePoints = infos.map((): number[] => []);
  for (const [cluster, glyphsOf] of Map.groupBy(infos.keys(), (index) => infos[index]?.cluster ?? 0)) {
    // The glyphs of a cluster share its characters, in the order of the text. Marks have none.
    const wide = glyphsOf.filter((index) => (positions[index]?.xAdvance ?? 0) > 0);
    const named = wide.length === 0 ? glyphsOf : wide;
    const end = Math.min(
      text.length,
      ...infos.flatMap((info) => (info.cluster > cluster ? [info.cluster] : [])),
    );
    for (const [place, character] of Array.from(text.slice(cluster, end)).entries())
      codePoints[named[Math.min(place, named.length - 1)] ?? 0]?.push(character.codePointAt(0) ?? 0);
  }
  const glyphs = infos.map(({ codepoint }, index) => ({
    id: `${codepoint} ${codePoints[index]?.join(" ")}`,
    advanceWidth: shaper.glyphHAdvance(codepoint),
    codePoints: codePoints[index],
  }));
  return { glyphs, positions, advanceWidth: positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0) };
}

/** Returns the parts of a text that no line breaks: words with their punctuation, and the spaces after them. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let [mayBreak, wasWord] = [true, false];
  for (const { segment, isWordLike: isWord = false } of words.segment(text)) {
    if (mayBreak || (wasWord && isWord)) parts.push("");
    parts.push(`${parts.pop() ?? ""}${segment}`);
    [mayBreak, wasWord] = [segment.endsWith(" "), isWord];
  }
  return parts;
}

/** Returns the parts of a line from left to right, by the Unicode Bidirectional Algorithm (UAX 9). */
function runsOf(text: string, fonts: readonly string[], base: "ltr" | "rtl"): Run[] {
  const embedding = bidi.getEmbeddingLevels(text, base);
  const runs: { font: string; level: number; start: number; end: number }[] = [];
  for (const index of bidi.getReorderedIndices(text, embedding)) {
    const [font = "", level = 0] = [fonts[index], embedding.levels[index]];
    const last = runs.at(-1);
    const isNext = last !== undefined && index >= last.start - 1 && index <= last.end + 1;
    if (isNext && last.font === font && last.level === level) {
      last.start = Math.min(last.start, index);
      last.end = Math.max(last.end, index);
    } else runs.push({ font, level, start: index, end: index });
  }
  return runs.map(({ font, level, start, end }) => ({
    font,
    text: text.slice(start, end + 1),
    direction: level % 2 === 1 ? Direction.RTL : Direction.LTR,
  }));
}
