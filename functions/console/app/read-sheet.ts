import { dateToSerial, formatValue, isDateFormat, readXlsx, type CellValue } from "hucre";

import type { Tables } from "./read-table.ts";

/** Returns the rows of the first visible sheet of an Excel file. @throws Error for another file */
export async function tablesOfSheet(file: Uint8Array): Promise<Tables> {
  const { sheets } = await readXlsx(file, {
    readStyles: true,
    sheets: ({ hidden, veryHidden }) => hidden !== true && veryHidden !== true,
  });
  const [sheet] = sheets;
  if (sheet === undefined) throw new Error("The file has no visible sheet.");
  const rowsWith = (dates: keyof Tables): string[][] =>
    sheet.rows.map((cells, row) =>
      cells.map((value, column) => {
        const format = sheet.cells?.get(`${row},${column}`)?.style?.numFmt;
        return textOfCell(value, format, dates).trim();
      }),
    );
  return { shown: rowsWith("shown"), iso: rowsWith("iso") };
}

/** The errors of formulas, which are no values. */
const formulaError = /^#(N\/A|DIV\/0!|REF!|NAME\?|VALUE!|NULL!|NUM!|SPILL!|CALC!|GETTING_DATA)$/;

/** A spreadsheet has and shows no more digits of a number. */
const digitsOfNumber = 15;

/** The text of a cell as the spreadsheet shows it to this person. */
function textOfCell(value: CellValue, format: string | undefined, dates: keyof Tables): string {
  if (value === null || (typeof value === "string" && formulaError.test(value))) return "";
  if (value instanceof Date) return textOfDate(value, format ?? "yyyy-mm-dd", dates);
  if (typeof value !== "number") return formatValue(value, format ?? "General");
  const rounded = Number(value.toPrecision(digitsOfNumber));
  // A power of ten is how a long number looks in a narrow column.
  if (format === undefined || /General|E[+-]/.test(format)) return String(rounded).replace(".", decimalPoint);
  // A currency of a country, `[$€-407]`, is shown as its text.
  const shown = format.replaceAll(/\[\$([^\]-]+)[^\]]*\]/g, '"$1"');
  return formatValue(rounded, shown, { locale: navigator.language });
}

const decimalPoint = new Intl.NumberFormat(navigator.language).format(1.5).charAt(1);

const shortDate = { day: "2-digit", month: "2-digit", year: "numeric" } as const;

/** The formats that a spreadsheet writes as the person's system does: short dates, long ones, and times. */
const formatsOfSystem: readonly (readonly [RegExp, Intl.DateTimeFormatOptions])[] = [
  [/^m{1,2}[/-]d{1,2}[/-]y{2,4}(;@)?$/, shortDate],
  [/^m\/d\/yy h:mm$/, { ...shortDate, hour: "2-digit", minute: "2-digit" }],
  [/^\[\$-F800\]/i, { dateStyle: "full" }],
  [/^\[\$-F400\]/i, { timeStyle: "short" }],
];

function textOfDate(date: Date, format: string, dates: keyof Tables): string {
  // A time is a fraction of a day, which is rounded.
  const at = new Date(Math.round(date.getTime() / 1_000) * 1_000);
  if (dates === "iso" && /y/i.test(format)) {
    return at.toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "");
  }
  const [, ofSystem] = formatsOfSystem.find(([pattern]) => pattern.test(format)) ?? [];
  if (ofSystem !== undefined) {
    return new Intl.DateTimeFormat(navigator.language, { ...ofSystem, timeZone: "UTC" }).format(at);
  }
  // The seconds of a full minute say nothing to a person.
  const shown = at.getUTCSeconds() === 0 ? format.replace(/:ss(\.0+)?/i, "") : format;
  return formatValue(dateToSerial(at), isDateFormat(shown) ? shown : "yyyy-mm-dd");
}
