import { getCountries, getCountryCallingCode } from "libphonenumber-js/max";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { searchMessages } from "../../shared/messages/search/find.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { withAllShards } from "../../shared/platform/table/shards.ts";
import type { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { entriesWritten, jsonOf, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * A carrier's price list and invoice, as the carrier sends them, on a gateway that sends through it.
 */

const operated = useOperatedGateway();
const { fileOf } = operated;
const rate = 1.0842;

/** The networks of a list: 818 in the countries of the world, with fictitious codes. */
const rowsOfList = 818;
const countries = getCountries();
const networks = Array.from({ length: rowsOfList }, (_, index) => ({
  country: countries[index % countries.length] ?? "",
  mcc: 201 + (index % countries.length),
  mnc: String(10 + Math.floor(index / countries.length)),
  price: (0.01 + (index % 97) / 1_000).toFixed(4).replace(".", ","),
}));
const list = [
  "\uFEFFMCC;MNC;Country;Network;Price EUR;Effective",
  ...networks.map((row) =>
    [row.mcc, row.mnc, row.country, `Net ${row.mnc}`, row.price, "2026-01-01"].join(";"),
  ),
].join("\r\n");

let carrier: HttpCarrier;
let customer: Customer;
beforeAll(async () => {
  let id = 0;
  carrier = await HttpCarrier.start((response, ...request) => {
    id += 1;
    says(200, JSON.stringify({ id: `ac-${id}` }))(response, ...request);
  });
  customer = await (await operated.register({ balance: 100 })).withApiKey();
  await outputOf(`carriers set acme --settings ${await fileOf(carrier.settings())}`);
  const codes = new Set(countries.map((each) => getCountryCallingCode(each)));
  const rows = [...codes].map((code) => {
    const [only, ...others] = countries.filter((each) => getCountryCallingCode(each) === code);
    return `${code},${others.length === 0 && only !== "AC" ? only : ""},1,0.5`;
  });
  await outputOf(`prices import ${await fileOf(`prefix,country,price,cost:sandbox\n${rows.join("\n")}\n`)}`);
  // It warns that the costs of the carrier are unknown.
  await operator("routes set 4 --carriers acme");
});
afterAll(async () => carrier.stop());

it("a list of 818 networks in 245 countries is imported by one command, and changes no other cost", async () => {
  expect([countries.length, networks.length]).toEqual([245, 818]);
  const file = await fileOf(list, "list.csv");
  expect((await operator(`prices import-costs acme ${file}`)).out).toContain(
    "the amounts are in EUR, and the stage's currency is USD: state --rate",
  );
  const dryRun = await operator(`prices import-costs acme ${file} --rate ${rate} --dry-run`);
  expect(dryRun.out).toContain("818 costs of 243 countries and 0 prefixes");
  expect(dryRun.out).toContain("Nothing was changed.");
  expect(dryRun.err).toContain("These destinations of the list have no price, and are not sold: AG, AI");
  const { code, out } = await operator(`prices import-costs acme ${file} --rate ${rate}`);
  expect([code, out.split("\n").at(-2)]).toEqual([0, "version 2 of the prices applies within a minute"]);
  const [row] = await jsonOf(
    "prices list --prefix 49",
    z.object({ costMicros: z.record(z.string(), z.int()) }),
  );
  const germany = networks
    .filter(({ country }) => country === "DE")
    .map(({ price }) => Number(price.replace(",", ".")));
  const mean = germany.reduce((sum, each) => sum + Math.ceil(each * rate * 1e6), 0) / germany.length;
  expect(row?.costMicros).toEqual({ sandbox: 500_000, acme: expect.closeTo(mean, -1) });
});

it("a cost above a price is shown and rejected, and nothing is changed", async () => {
  const dear = await fileOf("Country,Price\nDE,1.01\nFR,0.2\n", "dear.csv");
  const { code, err, out } = await operator(`prices import-costs acme ${dear} --dry-run`);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining("1 price is below the cost of a carrier of the route"),
  ]);
  expect(out).toMatch(/49 .* acme +1\.01 /);
  expect(await rejectionOf(`prices import-costs other ${dear}`)).toBe(
    "There is no carrier other. See carriers list.",
  );
});

/** The lines of an invoice for messages, with the price that the list has for one network of each. */
function invoiceOf(messages: readonly MessageRecord[]): string[][] {
  return messages.map(({ carrierReference = "", to, segments, sentAt = "" }, index) => {
    const country = to.startsWith("49") ? "DE" : "GB";
    const ofCountry = networks.filter((each) => each.country === country);
    const { mcc = 0, mnc = "", price = "" } = ofCountry[index % ofCountry.length] ?? {};
    const total = (segments * Number(price.replace(",", "."))).toFixed(4).replace(".", ",");
    return [carrierReference, sentAt.slice(0, 10), String(mcc), mnc, country, String(segments), total];
  });
}

it("an invoice with five planted differences has exactly these", async () => {
  operated.gateway.advanceClock(minuteMs);
  const sends = 24;
  for (let index = 0; index < sends; index += 1) {
    const to = `${index % 2 === 0 ? "4915112345" : "4477009001"}${100 + index}`;
    await customer.send({ to: to.slice(0, 12), message: index % 5 === 0 ? "x".repeat(200) : "short" });
  }
  const messages = await vi.waitFor(async () => {
    const found = await searchMessages(withAllShards(customer.organizationId), { limit: 100 });
    expect(found.messages.filter(({ carrierReference }) => carrierReference !== undefined)).toHaveLength(
      sends,
    );
    return found.messages.toReversed();
  }, patience);
  const month = messages[0]?.sentAt?.slice(0, 7) ?? "";
  const file = async (lines: readonly (readonly string[])[]): Promise<string> =>
    fileOf(
      [["Message ID", "Date", "MCC", "MNC", "Country", "Parts", "Amount EUR"], ...lines]
        .map((cells) => cells.join(";"))
        .join("\n"),
      "invoice.csv",
    );
  const options = `--month ${month} --price-list ${await fileOf(list, "list.csv")} --rate ${rate}`;
  const tested = await operator("carriers test acme --to 4915112345678 --wait 1 --json");
  const { carrierReference = "" } = z
    .object({ carrierReference: z.optional(z.string()) })
    .parse(JSON.parse(tested.out.split("\n")[0] ?? ""));
  await entriesWritten();
  const ofTest = [carrierReference, "", "", "", "DE", "1", "0,02"];
  const right = invoiceOf(messages);
  const same = await operator(`carriers compare-invoice acme ${await file([...right, ofTest])} ${options}`);
  expect([same.code, same.err]).toEqual([0, `Warning: the month ${month} is not over.\n`]);
  expect(same.out).toMatch(
    new RegExp(`^${sends} of ${sends + 1} lines match, 1 are of carriers test, 0 differences\\.`),
  );

  const wrong = right.map((cells) => [...cells]);
  (wrong[2] ?? [])[6] = "0,9";
  (wrong[3] ?? [])[5] = "4";
  const [missing] = wrong.splice(7, 1);
  wrong.push(["ac-unheard", `${month}-01`, "", "", "DE", "1", "0,02"], wrong[0] ?? []);
  const Row = z.object({ kind: z.string(), line: z.optional(z.int()), message: z.optional(z.string()) });
  const { code, out } = await operator(
    `carriers compare-invoice acme ${await file(wrong)} ${options} --json`,
  );
  expect(code).toBe(1);
  const rows = out
    .trim()
    .split("\n")
    .map((line) => Row.parse(JSON.parse(line)));
  const idOf = (index: number): string | undefined => messages[index]?.id;
  expect(missing?.[0]).toBe(messages[7]?.carrierReference);
  expect(rows).toEqual([
    { kind: "other price", line: 4, message: idOf(2) },
    { kind: "other parts", line: 5, message: idOf(3) },
    { kind: "billed, not sent", line: 25 },
    { kind: "billed twice", line: 26, message: idOf(0) },
    { kind: "sent, not billed", message: idOf(7) },
  ]);
  const csv = (await operator(`carriers compare-invoice acme ${await file(wrong)} ${options} --csv`)).out;
  expect(csv).toContain(`\n"billed, not sent",25,,DE,${month}-01,1,0,`);
});
