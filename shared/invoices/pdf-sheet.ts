import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";

import PDFDocument from "pdfkit";

const require = createRequire(import.meta.url);

/** A style of text. */
export interface TextStyle {
  readonly size: number;
  readonly isBold?: boolean;
  readonly color: string;
}

export const styles = {
  title: { size: 24, isBold: true, color: "#111111" },
  strong: { size: 9.5, isBold: true, color: "#111111" },
  body: { size: 9.5, color: "#333333" },
  label: { size: 8, color: "#6b6b6b" },
} as const satisfies Record<string, TextStyle>;

/** The page is A4, in points. */
const pageHeight = 841.89;
const pageWidth = 595.28;
const margin = 56;
const bottom = pageHeight - 80;

/** The edges of what a page shows. */
export const edges = { left: margin, right: pageWidth - margin, top: margin };

/** Shown for a character that the font lacks. */
const fallbackCharacter = "\u25A1";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A document of A4 pages, which is written from top to bottom. */
export class PdfSheet {
  /** Where the next text begins, from the top of the page. */
  y = edges.top;
  readonly #pdf: PDFKit.PDFDocument;
  readonly #font: Font;

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
      info: { Title: title, Author: author, Creator: "SMS gateway", CreationDate: writtenAt },
    });
    this.#font = Object(Reflect.get(this.#pdf, "_font")).font;
    this.#pdf.registerFont("regular", regular).registerFont("bold", bold);
  }

  /** Writes a text at a place of the page, and wraps it. @returns its end from the top */
  write(text: string, style: TextStyle, place: Place): number {
    const { left, top = this.y, width, align = "left" } = place;
    const legible = this.#legible(text);
    const height = this.#select(style).heightOfString(legible, { width, lineGap });
    // Digits of amounts are below each other.
    const features: PDFKit.Mixins.OpenTypeFeatures[] = align === "right" ? ["tnum"] : [];
    this.#pdf.fillColor(style.color).text(legible, left, top, { width, align, lineGap, features });
    return top + height;
  }

  /** Draws a horizontal line. */
  rule(left: number, color = "#d0d0d0"): void {
    this.#pdf.moveTo(left, this.y).lineTo(edges.right, this.y).lineWidth(0.75).strokeColor(color).stroke();
  }

  heightOf(text: string, style: TextStyle, width: number): number {
    return this.#select(style).heightOfString(this.#legible(text), { width, lineGap });
  }

  /** Begins a page if the present one has no room for this height. @returns whether it did */
  breakBefore(height: number): boolean {
    if (this.y + height <= bottom) return false;
    this.#pdf.addPage();
    this.y = edges.top;
    return true;
  }

  /** Writes a line at the end of each page, and returns the file. */
  async finish(footer: (page: number, pages: number) => string): Promise<Uint8Array> {
    const { count } = this.#pdf.bufferedPageRange();
    for (let page = 0; page < count; page += 1) {
      this.#pdf.switchToPage(page);
      const place = { left: edges.left, top: bottom + 30, width: edges.right - edges.left };
      this.write(footer(page + 1, count), styles.label, { ...place, align: "center" });
    }
    this.#pdf.end();
    return buffer(this.#pdf);
  }

  #select({ isBold = false, size }: TextStyle): PDFKit.PDFDocument {
    return this.#pdf.font(isBold ? "bold" : "regular").fontSize(size);
  }

  /** Replaces each character that the font lacks, and controls. */
  #legible(text: string): string {
    const characters = [...graphemes.segment(text.normalize("NFC").replaceAll(/\p{Cc}+/gu, " "))];
    return characters
      .map(({ segment }) => {
        const isKnown = Array.from(segment).every((each) =>
          this.#font.hasGlyphForCodePoint(each.codePointAt(0) ?? 0),
        );
        return isKnown ? segment : fallbackCharacter;
      })
      .join("");
  }
}

const lineGap = 2.5;

export interface Place {
  readonly left: number;
  /** By default the place where the next text begins. */
  readonly top?: number;
  readonly width: number;
  readonly align?: "center" | "left" | "right";
}

/** The font, as pdfkit keeps it. */
interface Font {
  hasGlyphForCodePoint(codePoint: number): boolean;
}
