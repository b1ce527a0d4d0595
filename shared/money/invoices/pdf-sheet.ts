import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";

import PDFDocument from "pdfkit";

import { fontFile } from "./fonts.ts";
import { PdfText, type TextStyle } from "./pdf-text.ts";

const require = createRequire(import.meta.url);

export const styles = {
  title: { size: 24, font: "bold", color: "#111111" },
  strong: { size: 9.5, font: "bold", color: "#111111" },
  body: { size: 9.5, font: "regular", color: "#333333" },
  label: { size: 8, font: "regular", color: "#6b6b6b" },
} as const satisfies Record<string, Style>;

export interface Style extends TextStyle {
  /** A hexadecimal color, such as #111111. */
  readonly color: string;
}

/** The edges of the text on an A4 page, in points. */
export const edges = { left: 56, right: 539, top: 56, bottom: 762 };

export interface Column {
  readonly left: number;
  readonly width: number;
  readonly align?: "center" | "left" | "right";
  /** The role of its texts for screen readers, as PDF names it. Default: a paragraph. */
  readonly tag?: "H1" | "P" | "TD" | "TH";
  /** Which cells a heading in a table is about. */
  readonly scope?: "Column" | "Row" | undefined;
}

const lineGap = 2.5;

/** The types of pdfkit lack it. */
const conformance: object = { subset: "PDF/UA" };

/** A tagged document of A4 pages (PDF/UA), which is written from top to bottom. */
export class PdfSheet {
  readonly #pdf: PDFKit.PDFDocument;
  readonly #text: PdfText;
  #element: PDFKit.PDFStructureElement;
  /** Where the next text begins, from the top of the page. */
  y = edges.top;

  /** @param writtenAt the only time in the file */
  constructor(title: string, author: string, writtenAt: Date) {
    const regular = require.resolve(fontFile("regular"));
    this.#pdf = new PDFDocument({
      size: "A4",
      // Margins would break a text at the end of a page in the middle of its column.
      margin: 0,
      bufferPages: true,
      lang: "en",
      displayTitle: true,
      pdfVersion: "1.7",
      tagged: true,
      ...conformance,
      // Its own default is a font whose file bundles lack.
      font: regular,
      info: { Title: title, Author: author, CreationDate: writtenAt },
    });
    // For the number 1 pdfkit takes the file for PDF/A-1, and adds lists of glyphs to it that are not complete.
    Reflect.set(this.#pdf, "subset", "1");
    this.#text = new PdfText(this.#pdf);
    this.#element = this.#pdf.struct("Document");
    this.#pdf.addStructure(this.#element);
  }

  /** Draws the parts of an element, such as a table, so that screen readers find them together. */
  group(tag: "TR" | "Table", draw: () => void): void {
    const outer = this.#element;
    this.#element = this.#pdf.struct(tag);
    outer.add(this.#element);
    draw();
    this.#element.end();
    this.#element = outer;
  }

  /** Writes a text into a column, and wraps it. The next text begins below it. */
  write(text: string, style: Style, column: Column): void {
    const { tag = "P", scope } = column;
    const content = this.#pdf.markStructureContent(tag);
    this.#drawLines(text, style, column);
    this.#pdf.endMarkedContent();
    const attributes: object = scope === undefined ? {} : { scope };
    this.#element.add(this.#pdf.struct(tag, attributes, [content]));
  }

  /** Draws a horizontal line. */
  rule(left: number, color = "#d0d0d0"): void {
    this.#pdf.markContent("Artifact", { type: "Layout" });
    this.#pdf.moveTo(left, this.y).lineTo(edges.right, this.y).lineWidth(0.75).strokeColor(color).stroke();
    this.#pdf.endMarkedContent();
  }

  /** Begins a page if the present one has no room for a text. @returns whether it did */
  breakBefore(text: string, style: Style, width: number): boolean {
    const lines = text.split("\n").flatMap((each) => this.#text.linesOf(each, style, width));
    const height = lines.reduce((sum, line) => sum + line.height + lineGap, 0);
    if (this.y + height <= edges.bottom) return false;
    this.#pdf.addPage();
    this.y = edges.top;
    return true;
  }

  /** Writes a line at the end of each page, and returns the file. */
  async finish(footer: (page: number, pages: number) => string): Promise<Uint8Array> {
    const { count } = this.#pdf.bufferedPageRange();
    const { left, right } = edges;
    for (let page = 0; page < count; page += 1) {
      this.#pdf.switchToPage(page);
      this.y = edges.bottom + 30;
      this.#pdf.markContent("Artifact", { type: "Pagination" });
      this.#drawLines(footer(page + 1, count), styles.label, { left, width: right - left, align: "center" });
      this.#pdf.endMarkedContent();
    }
    this.#element.end();
    this.#pdf.end();
    return buffer(this.#pdf);
  }

  #drawLines(text: string, style: Style, { left, width, align = "left" }: Column): void {
    // Digits of amounts are below each other.
    const inColumn: Style = { ...style, features: align === "right" ? ["tnum"] : [] };
    this.#pdf.fillColor(style.color);
    for (const line of this.#text.linesOf(text, inColumn, width)) {
      const rest = width - line.width;
      const x = left + (align === "right" ? rest : align === "center" ? rest / 2 : 0);
      this.#text.draw(line, inColumn, x, this.y + line.ascent);
      this.y += line.height + lineGap;
    }
  }
}
