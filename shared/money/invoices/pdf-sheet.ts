import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";

import PDFDocument from "pdfkit";

const require = createRequire(import.meta.url);

export const styles = {
  title: { size: 24, font: "bold", color: "#111111" },
  strong: { size: 9.5, font: "bold", color: "#111111" },
  body: { size: 9.5, font: "regular", color: "#333333" },
  label: { size: 8, font: "regular", color: "#6b6b6b" },
} as const satisfies Record<string, Style>;

export interface Style {
  readonly size: number;
  readonly font: "bold" | "regular";
  /** A hexadecimal color, such as #111111. */
  readonly color: string;
}

/** The edges of the text on an A4 page, in points. */
export const edges = { left: 56, right: 539, top: 56, bottom: 762 };

export interface Column {
  readonly left: number;
  readonly width: number;
  readonly align?: "center" | "left" | "right";
}

const lineGap = 2.5;

/** Shown for a character that the font lacks. */
const fallbackCharacter = "\u25A1";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A document of A4 pages, which is written from top to bottom. */
export class PdfSheet {
  readonly #pdf: PDFKit.PDFDocument;
  /** The font, as pdfkit keeps it. */
  readonly #font: { hasGlyphForCodePoint(codePoint: number): boolean };

  /** @param writtenAt the only time in the file */
  constructor(title: string, author: string, writtenAt: Date) {
    // The build puts these files next to the bundle.
    const regular = require.resolve("@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf");
    const bold = require.resolve("@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf");
    this.#pdf = new PDFDocument({
      size: "A4",
      // Margins would break a text at the end of a page in the middle of its column.
      margin: 0,
      bufferPages: true,
      lang: "en",
      displayTitle: true,
      // Its own default is a font whose file bundles lack.
      font: regular,
      info: { Title: title, Author: author, CreationDate: writtenAt },
    });
    this.#font = Object(Reflect.get(this.#pdf, "_font")).font;
    this.#pdf.registerFont("regular", regular).registerFont("bold", bold);
    this.y = edges.top;
  }

  /** Where the next text begins, from the top of the page. */
  get y(): number {
    return this.#pdf.y;
  }

  set y(y: number) {
    this.#pdf.y = y;
  }

  /** Writes a text into a column, and wraps it. The next text begins below it. */
  write(text: string, { font, size, color }: Style, { left, width, align = "left" }: Column): void {
    // Digits of amounts are below each other.
    const features: PDFKit.Mixins.OpenTypeFeatures[] = align === "right" ? ["tnum"] : [];
    this.#pdf.font(font).fontSize(size).fillColor(color);
    this.#pdf.text(this.#legible(text), left, this.y, { width, align, lineGap, features });
  }

  /** Draws a horizontal line. */
  rule(left: number, color = "#d0d0d0"): void {
    this.#pdf.moveTo(left, this.y).lineTo(edges.right, this.y).lineWidth(0.75).strokeColor(color).stroke();
  }

  /** Begins a page if the present one has no room for a text. @returns whether it did */
  breakBefore(text: string, { font, size }: Style, width: number): boolean {
    const height = this.#pdf
      .font(font)
      .fontSize(size)
      .heightOfString(this.#legible(text), { width, lineGap });
    if (this.y + height <= edges.bottom) return false;
    this.#pdf.addPage();
    this.y = edges.top;
    return true;
  }

  /** Writes a line at the end of each page, and returns the file. */
  async finish(footer: (page: number, pages: number) => string): Promise<Uint8Array> {
    const { count } = this.#pdf.bufferedPageRange();
    for (let page = 0; page < count; page += 1) {
      this.#pdf.switchToPage(page);
      this.y = edges.bottom + 30;
      const { left, right } = edges;
      this.write(footer(page + 1, count), styles.label, { left, width: right - left, align: "center" });
    }
    this.#pdf.end();
    return buffer(this.#pdf);
  }

  /** Replaces each character that the font lacks, and controls. */
  #legible(text: string): string {
    const characters = [...graphemes.segment(text.normalize("NFC").replaceAll(/\p{Cc}+/gu, " "))];
    const isKnown = (point: string): boolean => this.#font.hasGlyphForCodePoint(point.codePointAt(0) ?? 0);
    return characters
      .map(({ segment }) => (Array.from(segment).every(isKnown) ? segment : fallbackCharacter))
      .join("");
  }
}
