import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { writeXlsx, type Cell, type CellValue } from "hucre";
import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { guessTargets, headerRowOf, rowsOf } from "../../functions/console/app/import-rows.ts";
import {
  fieldsOf,
  singleBraces,
  unknownPlaceholder,
  withFieldNames,
} from "../../functions/console/app/placeholders.ts";
import { parseCsv, tablesOf } from "../../functions/console/app/read-table.ts";
import { csvFileOf, withWrittenNumbers, xlsxOf } from "../../functions/console/app/save-file.ts";
import { readCredentials } from "../../infra/operator/carriers.ts";
import { CostsOfRows, readCostList } from "../../infra/operator/cost-list.ts";
import { readInvoice } from "../../infra/operator/invoice-lines.ts";
import { parseRates } from "../../infra/operator/rates-file.ts";
import { ConsistentSettings } from "../../infra/stack/stages/consistent-settings.ts";
import { exchangeRateWarning } from "../../infra/stack/stages/payment-checks.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { BillingDetails } from "../../shared/api/contract/billing.ts";
import { CreateContactRequest, type Contact } from "../../shared/api/contract/contacts.ts";
import { ApiError, type ErrorDetail } from "../../shared/api/contract/errors.ts";
import { problemOfLength } from "../../shared/api/contract/phone-numbers.ts";
import { typedCode } from "../../shared/api/contract/plain-text.ts";
import { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import { validate } from "../../shared/api/contract/validation.ts";
import { VerificationProfile } from "../../shared/api/contract/verification-profiles.ts";
import { readNumber } from "../../shared/api/read-number.ts";
import { problemOf, renderTemplate } from "../../shared/audience/templates/render.ts";
import { awsCallbacks } from "../../shared/carriers/aws.ts";
import type { CallbackReader } from "../../shared/carriers/callback-reader.ts";
import { callbacksOfKinds } from "../../shared/carriers/callbacks-of-kinds.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { csvOf, withoutGuard } from "../../shared/figures/exports/csv.ts";
import { countryOfNumber, typesOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";
import { parseSchedule } from "../../shared/messages/message/schedule.ts";
import { segmentsOf } from "../../shared/messages/message/segments.ts";
import { keywordOf } from "../../shared/messages/numbers/keywords.ts";
import { checkDrawable } from "../../shared/money/invoices/characters.ts";
import { renderPdf } from "../../shared/money/invoices/pdf.ts";
import { DocumentRecord } from "../../shared/money/invoices/record.ts";
import { checkedDetails } from "../../shared/money/payments/billing-details.ts";
import { localTaxOf } from "../../shared/money/payments/local-tax.ts";
import { taxOf } from "../../shared/money/payments/tax.ts";
import { headerText } from "../../shared/notices/emails/send-with-ses.ts";
import { TextSearch } from "../../shared/platform/text-search.ts";
import { verificationText } from "../../shared/verifications/texts.ts";
import { casesOf, type KindOf } from "../support/cases.ts";
import { message as carrierMessage, startCarrierServers } from "../support/http-carrier-kinds.ts";
import { invoice } from "../support/invoices.ts";
import { fontsOfPdf, linesOfPdf } from "../support/pdf.ts";
import { setPayments } from "../support/stored-payments.ts";

/** The moment of all requests. */
const at = new Date("2026-11-28T10:00:00.000Z");

const Texts = z.array(z.array(z.string()));
const Fields = z.record(z.string(), z.string());
const SheetCell = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  /** A day is a date of ISO 8601. The format is that of the spreadsheet. */
  z.strictObject({
    number: z.optional(z.number()),
    date: z.optional(z.string()),
    format: z.optional(z.string()),
  }),
]);
const Sheet = z.strictObject({
  name: z.optional(z.string()),
  state: z.optional(z.literal("hidden")),
  rows: z.array(z.array(SheetCell)),
  merge: z.optional(z.array(z.string())),
});
const Import = z.strictObject({
  text: z.optional(z.string()),
  encoding: z.optional(z.enum(["latin1", "utf16be", "utf16le"])),
  xlsx: z.optional(z.array(Sheet)),
  country: z._default(z.string(), ""),
  reading: z.optional(z.enum(["international", "national"])),
  dates: z._default(z.enum(["iso", "shown"]), "shown"),
  name: z.optional(z.string()),
});
const Seller = z.strictObject({ name: z.string(), address: z.array(z.string()), country: z.string() });
const Callback = z.strictObject({
  carrier: z.enum(["aws", "http", "kannel", "twilio"]),
  settings: z._default(z.record(z.string(), z.unknown()), {}),
  /** The query string of a call, or its fields. */
  query: z.optional(z.string()),
  fields: z._default(z.record(z.string(), z.unknown()), {}),
});

const OperatorFile = z.strictObject({
  reader: z.enum(["costs", "credentials", "invoice", "prices", "stage"]),
  /** Settings in addition to those that a stage has to state. */
  settings: z.optional(z.record(z.string(), z.unknown())),
  text: z.optional(z.string()),
  encoding: Import.shape.encoding,
  xlsx: Import.shape.xlsx,
});

const compressions = { br: brotliCompressSync, deflate: deflateSync, gzip: gzipSync, raw: deflateRawSync };
const CarrierResponse = z.strictObject({
  carrier: z.enum(["http", "kannel", "twilio"]),
  settings: z._default(z.record(z.string(), z.unknown()), {}),
  status: z._default(z.int(), 200),
  headers: z._default(Fields, {}),
  body: z._default(z.string(), ""),
  encoding: z._default(z.enum(["latin1", "utf8", "utf16le"]), "utf8"),
  compression: z.optional(z.enum(["br", "deflate", "gzip", "raw"])),
  /** The bytes of a response that Node would not write. */
  bytes: z.optional(z.string()),
});

/** The fields of `tax`, `invoice` and `stage`. `stored`: an older release has stored the details of the buyer without a check. */
const MoneyCase = z.looseObject({
  seller: z._default(z.string(), "DE"),
  month: z._default(z.string(), "2026-11"),
  stored: z.optional(z.boolean()),
});

/** One function for each kind of case. It returns what a person or a program gets, as a text. */
const kinds: Readonly<Record<KindOf<"unit">, (input: unknown) => Promise<string> | string>> = {
  segments: (input) => {
    const { text } = z.strictObject({ text: z.string() }).parse(input);
    const { encoding, segments } = segmentsOf(text, { unicode: false });
    return `${encoding}, ${segments} segments`;
  },
  request: (input) => {
    const checked = validate(SendSmsRequest, { to: "447700900123", message: "hello", ...Object(input) });
    if (!checked.success) return `400 ${problems(checked.details)}`;
    try {
      const scheduledAt = parseSchedule(checked.data.scheduledAt, at);
      return `202 to ${checked.data.to}, ${scheduledAt ?? "immediately"}`;
    } catch (error) {
      return `400 ${error instanceof ApiError ? problems(error.details) : String(error)}`;
    }
  },
  "numbering plan": (input) => {
    const { number } = z.strictObject({ number: z.string() }).parse(input);
    const problem = problemOfLength(number);
    const types = typesOfNumber(number).join("|");
    return problem === undefined
      ? `possible, ${countryOfNumber(number) ?? "no country"}, ${types || "no assigned range"}`
      : `rejected: ${problem}`;
  },
  "typed number": (input) => {
    const { text, country } = z.strictObject({ text: z.string(), country: z.string() }).parse(input);
    return JSON.stringify(readNumber(text, country));
  },
  code: (input) => {
    const { code, typed } = z.strictObject({ code: z.string(), typed: z.string() }).parse(input);
    return typedCode(typed, /^\d+$/.test(code)) === typedCode(code) ? "valid" : "wrong";
  },
  stop: (input) => keywordOf(z.strictObject({ text: z.string() }).parse(input).text) ?? "none",
  locale: (input) => {
    const { locale, texts } = z.strictObject({ locale: z.string(), texts: z.optional(Fields) }).parse(input);
    const profile = {
      name: "default",
      brand: "Shop",
      codeLength: 6,
      validitySeconds: 600,
      guard: "monitor",
      texts,
    };
    const chosen = verificationText(VerificationProfile.parse({ ...profile, allow: [], version: 1 }), {
      locale,
    });
    return `${chosen.locale}: ${chosen.text}`;
  },
  "email header": (input) => headerText(z.strictObject({ name: z.string() }).parse(input).name),
  template: (input) => {
    const { body, values } = z.strictObject({ body: z.string(), values: z.optional(Fields) }).parse(input);
    const problem = problemOf(body);
    if (problem !== undefined) return `400 ${problem}`;
    const rendered = renderTemplate(body, values ?? {});
    return "text" in rendered ? rendered.text : `400 no value for ${rendered.missing.join(", ")}`;
  },
  placeholder: (input) => {
    const { message, attributes } = z.strictObject({ message: z.string(), attributes: Fields }).parse(input);
    const contact = { phoneNumber: "447700900123", firstName: "Ada", tags: [], attributes };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The other fields of a contact are no placeholders.
    const fields = fieldsOf([contact as unknown as Contact]);
    return [
      withFieldNames(message, fields),
      unknownPlaceholder(message, fields) ?? "",
      singleBraces(message, fields) ?? "",
    ].join(" | ");
  },
  import: async (input) => {
    const { country, reading, dates, ...file } = Import.parse(input);
    const table = (await tablesOf(new Blob([await bytesOf(file)])))[dates];
    const start = headerRowOf(table);
    const columns = guessTargets(table[start] ?? [], table.slice(start + 1, start + 20));
    return JSON.stringify(
      rowsOf(table, columns, country, reading).map(({ line, contact, problem }) => ({
        line,
        ...contact,
        ...(problem !== undefined && { problem }),
      })),
    );
  },
  "saved file": async (input) => {
    const { table, kind } = z
      .strictObject({ table: Texts, kind: z.enum(["csv", "semicolons", "xlsx"]) })
      .parse(input);
    const shown = await withWrittenNumbers(table);
    return kind === "xlsx"
      ? JSON.stringify((await tablesOf(await xlsxOf(shown))).shown)
      : csvFileOf(shown, kind).text();
  },
  "round trip": (input) => {
    const { table } = z.strictObject({ table: Texts }).parse(input);
    return JSON.stringify(parseCsv(csvOf(table)).map((cells) => cells.map(withoutGuard)));
  },
  search: (input) => {
    const { stored, typed } = z.strictObject({ stored: Texts, typed: z.string() }).parse(input);
    const found = stored.filter(([number = "", ...texts]) => new TextSearch(typed).matches(number, ...texts));
    return found.map(([, name]) => name).join(", ") || "none";
  },
  "carrier response": async (input) => {
    const { carrier, settings, status, headers, body, encoding, compression, bytes } =
      CarrierResponse.parse(input);
    const { server, carrierOfKind } = await startCarrierServers();
    const content = Buffer.from(body, encoding);
    server.answer = (response, { socket }) => {
      if (bytes === undefined) {
        const sent = compression === undefined ? content : compressions[compression](content);
        response.writeHead(status, headers).end(sent);
      } else socket.end(bytes);
    };
    const submitted = carrierOfKind(carrier, undefined, undefined, settings).send(carrierMessage);
    return submitted.then(JSON.stringify, (error: unknown) => `unknown: ${Object(error).name}`);
  },
  "inbound fields": async (input) => {
    const { reader, fields, query } = await callbackOf(input);
    return JSON.stringify(reader.inbound(fields, query) ?? "400");
  },
  "receipt fields": async (input) => {
    const { reader, fields } = await callbackOf(input);
    return JSON.stringify(reader.receipt(fields) ?? "400");
  },
  contact: (input) => {
    const checked = validate(CreateContactRequest, input);
    return checked.success ? JSON.stringify(checked.data) : `400 ${problems(checked.details)}`;
  },
  "operator file": async (input) => {
    const { reader, settings, ...content } = OperatorFile.parse(input);
    const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-case-"));
    vi.stubEnv("STAGES_FOLDER", folder);
    const file = path.join(folder, "blue.json");
    const text = settings === undefined ? content.text : JSON.stringify({ ...leastSettings, ...settings });
    await writeFile(file, await bytesOf({ ...content, text }));
    const readers = {
      costs: async () => {
        const list = await readCostList(file, { rate: undefined, currency: "EUR" });
        if ("errors" in list) return list;
        const costs = new CostsOfRows(list, ["49"]);
        return { germany: costs.costOf({ prefix: "49", country: "DE" }, at.toISOString()) };
      },
      credentials: async () => readCredentials(file),
      invoice: async () => readInvoice(file, { rate: undefined, currency: "EUR" }),
      prices: async () =>
        parseRates(await readFile(file), { required: ["prefix", "country", "price"], hasCosts: true }),
      stage: () => stageNamed("blue"),
    };
    try {
      return JSON.stringify(await readers[reader]());
    } catch (error) {
      return String(error);
    } finally {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    }
  },
  document: async (input) => {
    const { seller, ...buyer } = z.looseObject({ seller: z.optional(Seller) }).parse(input);
    const checked = validate(BillingDetails, buyer);
    if (!checked.success) return `400 ${problems(checked.details)}`;
    try {
      checkDrawable(checked.data);
    } catch (error) {
      return `400 ${error instanceof ApiError ? problems(error.details) : String(error)}`;
    }
    const pdf = await renderPdf(invoice({ buyer: checked.data, ...(seller && { seller }) }));
    return `${fontsOfPdf(pdf).join(" ")} | ${linesOfPdf(pdf).flat().join(" | ")}`;
  },
  test: async (input) => {
    const { file, name } = z.strictObject({ file: z.string(), name: z.string() }).parse(input);
    const code = await readFile(file, "utf8");
    return [`("${name}"`, `  "${name}",`].some((start) => code.includes(start)) ? "exists" : `not in ${file}`;
  },
  tax: (input) => {
    const { seller: country, tax, buyer, stored } = MoneyCase.parse(input);
    setPayments({ seller: { name: "Example", address: ["1 Sample Street"], country }, tax });
    const checked = validate(BillingDetails, { name: "Ada", ...Object(buyer) });
    if (!checked.success) return `400 ${problems(checked.details)}`;
    try {
      const details = stored === true ? checked.data : checkedDetails(checked.data);
      const { rate, note = "no note", reason = "no reason" } = taxOf(details);
      return `${details.vatNumber ?? "no number"}: ${rate} %; ${note}; ${reason}`;
    } catch (error) {
      return error instanceof ApiError ? `400 ${problems(error.details)}` : String(error);
    }
  },
  invoice: async (input) => {
    const { month, tax = {}, document } = MoneyCase.parse(input);
    const changed = DocumentRecord.parse({ ...invoice(), ...Object(document) });
    setPayments({ seller: changed.seller, tax });
    const localTax = localTaxOf(changed, undefined, month);
    const lines = linesOfPdf(await renderPdf({ ...changed, localTax })).flat();
    return lines.join("; ").replaceAll("\u00A0", " ");
  },
  stage: (input) => {
    const { month, currency, payments } = MoneyCase.parse(input);
    const { policies } = stageNamed("dev");
    const least = { carrier: "sandbox", keepData: false, policies };
    const checked = validate(ConsistentSettings, { ...least, currency, payments }, "setting");
    if (!checked.success) return `400 ${problems(checked.details)}`;
    return `valid; ${exchangeRateWarning(checked.data, month) ?? "no warning"}`;
  },
};

const leastSettings = {
  carrier: "sandbox",
  keepData: false,
  policies: { senderIds: "any", kyc: "none", verifiedEmail: "none", countries: "any" },
};

function problems(details: readonly ErrorDetail[] = []): string {
  return details.map((detail) => `${detail.path} ${detail.message}`).join("; ");
}

async function callbackOf(input: unknown): Promise<{
  readonly reader: CallbackReader;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly query: string | undefined;
}> {
  const { carrier, settings, query, fields } = Callback.parse(input);
  const read = query === undefined ? fields : Object.fromEntries(new URLSearchParams(query));
  return { reader: await readerOfKind(carrier, settings), fields: read, query };
}

async function readerOfKind(
  carrier: z.infer<typeof Callback>["carrier"],
  settings: object,
): Promise<CallbackReader> {
  if (carrier === "aws") return awsCallbacks.reader();
  const ofHttp = { responses: [{ meaning: "accepted", statuses: [200] }] };
  const parsed = CarrierSettings.parse({
    kind: carrier,
    ...(carrier === "http" && ofHttp),
    ...(carrier !== "twilio" && { url: "https://carrier.example/send" }),
    ...settings,
  });
  const reader = await callbacksOfKinds[parsed.kind].reader?.(parsed);
  if (reader === undefined) throw new Error(`${carrier} has no callbacks`);
  return reader;
}

async function bytesOf({
  text = "",
  encoding,
  xlsx,
}: Pick<z.infer<typeof Import>, "encoding" | "text" | "xlsx">): Promise<Uint8Array<ArrayBuffer>> {
  if (xlsx !== undefined) return new Uint8Array(await workbookOf(xlsx));
  if (encoding === "utf16be") return new Uint8Array(Buffer.from(text, "utf16le").swap16());
  return new Uint8Array(Buffer.from(text, encoding ?? "utf8"));
}

const dayOfSpreadsheets = Date.UTC(1899, 11, 30);

async function workbookOf(sheets: readonly z.infer<typeof Sheet>[]): Promise<Uint8Array> {
  return writeXlsx({
    sheets: sheets.map(({ name = "Sheet1", state, rows }) => {
      const cells = new Map<string, Partial<Cell>>();
      const values = rows.map((row, line) =>
        row.map((cell, column): CellValue => {
          if (cell === null || typeof cell !== "object") return cell;
          const { number, date, format } = cell;
          const value = number ?? (Date.parse(date ?? "") - dayOfSpreadsheets) / 86_400_000;
          if (format !== undefined) cells.set(`${line},${column}`, { value, style: { numFmt: format } });
          return value;
        }),
      );
      return { name, hidden: state === "hidden", rows: values, cells };
    }),
  });
}

it.each(casesOf("unit"))("$title", async ({ kind, input, expected }) => {
  expect(await kinds[kind](input)).toMatch(new RegExp(expected, "s"));
});
