import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { beforeAll, expect, it } from "vitest";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { noFigures, noMessages, noUsage, sumAs, writeFigures } from "../../shared/messages/counts/figures.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import type { Customer } from "../support/api.ts";
import { emailsTo, waitForSubject } from "../support/emails.ts";
import { runSchedule } from "../support/functions.ts";
import { operator, outputOf, queueEmptied } from "../support/operator.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

/*
 * The notices of higher prices, which come fourteen days before them. Each test continues the one before.
 */

const operated = useOperatedGateway();
const { fileOf } = operated;
const present = Date.now();
/** The moment whose notice is due after some hours. */
const riseIn = (hours: number): string => new Date(present + 14 * dayMs + hours * hourMs).toISOString();

/** The customers by the countries that they sent to. The one of `own` has an own price for Germany. */
const customers: Record<"france" | "germany" | "own" | "quiet", Customer> = Object.create(null);

beforeAll(async () => {
  const connections = path.join(operated.dataFolder, "connections.json");
  const { outputs, ...rest } = JSON.parse(await readFile(connections, "utf8"));
  const priceNoticeDays = { name: outputNames.priceNoticeDays, value: "14" };
  await writeFile(connections, JSON.stringify({ ...rest, outputs: [...outputs, priceNoticeDays] }));
  for (const name of ["france", "germany", "own", "quiet"] as const) {
    const customer = await operated.register();
    await noteVerifiedEmail(customer.organizationId);
    customers[name] = customer;
  }
  const { france, germany, own } = customers;
  for (const [{ organizationId }, country] of [
    [france, "FR"],
    [germany, "DE"],
    [own, "DE"],
  ] as const) {
    const margins = [{ ...noMessages, messages: 1, country, carrier: "sandbox" }];
    const usage = { ...noUsage, country: [sumAs(country, [])] };
    const day = new Date(present - 9 * dayMs).toISOString().slice(0, 10);
    await writeFigures(dayShardOf(organizationId, day), { ...noFigures, margins, usage }, true);
  }
  await outputOf(
    `prices import ${await fileOf("cost:sandbox,prefix,country,price\n0.01,49,DE,0.07\n0.01,4915,DE,0.08\n0.01,33,FR,0.05\n")}`,
  );
  await outputOf(`prices set-override ${own.email} 49 0.06`);
});

/** Imports prices of Germany that apply in fourteen days and an hour. */
async function importRise(mobile: string, others = "0.07"): Promise<string> {
  const rows = [
    "49,DE,0.07,",
    "4915,DE,0.08,",
    `4915,DE,${mobile},${riseIn(1)}`,
    `49,DE,${others},${riseIn(1)}`,
    "33,FR,0.05,",
  ];
  return outputOf(
    `prices import ${await fileOf(`cost:sandbox,prefix,country,price,valid_from\n${rows.map((row) => `0.01,${row}`).join("\n")}\n`)}`,
  );
}

/** Lets the gateway send what is due after a time. */
async function after(ms: number): Promise<void> {
  operated.gateway.advanceClock(ms);
  for (let run = 0; run < 2; run += 1) {
    await runSchedule(operated.gateway, "ReleaseScheduledJobs");
    operated.gateway.advanceClock(2 * minuteMs);
  }
  await queueEmptied("emails");
}

const risesIn = (customer: Customer): string[] =>
  emailsTo(operated.gateway, customer.email)
    .filter(({ subject }) => subject.includes("prices rise"))
    .map(({ text }) => text);

it("a notice of a later price is scheduled for those who sent to its country and pay it", async () => {
  expect(await importRise("0.09")).toContain("Scheduled notices of higher prices: 3");
  // The list is corrected, and imported twice.
  for (let time = 0; time < 2; time += 1) {
    expect(await importRise("0.095", "0.069")).toContain("Scheduled notices of higher prices: 3");
  }
  await after(minuteMs);
  expect(Object.values(customers).flatMap(risesIn)).toEqual([]);
});

it("the notice comes once, fourteen days before the price, with the prices of the last list", async () => {
  await after(hourMs);
  const { text } = await waitForSubject(
    operated.gateway,
    customers.germany.email,
    `SMS gateway: prices rise on ${riseIn(1).slice(0, 10)}`,
  );
  expect(text).toContain(`From ${riseIn(1).slice(0, 16).replace("T", " ")} UTC on, `);
  expect(text).toContain("\n\nGermany, +4915: $0.08, then $0.095\n\nSee the present prices:");
  expect(Object.values(customers).flatMap(risesIn)).toHaveLength(1);
});

it("a rise that is withdrawn after the notice was scheduled is not announced", async () => {
  const { france } = customers;
  await outputOf(
    `prices import ${await fileOf(`cost:sandbox,prefix,country,price,valid_from\n0.01,33,FR,0.05,\n0.01,33,FR,0.06,${riseIn(4)}\n`)}`,
  );
  await outputOf(`prices import ${await fileOf("cost:sandbox,prefix,country,price\n0.01,33,FR,0.05\n")}`);
  await after(3 * hourMs);
  expect(risesIn(france)).toEqual([]);
});

it("a rise of an organization's own price is announced to it, and a sudden one is reported to the operator", async () => {
  const { own, quiet } = customers;
  const file = await fileOf(`prefix,price,valid_from\n33,0.04,\n33,0.045,${riseIn(7)}\n`);
  await outputOf(`prices import ${file} --organization ${quiet.email}`);
  const warning = "Warning: the prices of 1 prefixes rise without the notice of 14 days.\n";
  const isReported = { code: 0, err: expect.stringContaining(warning) };
  expect(await operator(`prices set-override ${own.email} 33 0.055`)).toMatchObject(isReported);
  // The price of a shorter prefix applies then.
  await operator(`prices set-override ${own.email} 3361 0.01 --allow-loss`);
  expect(await operator(`prices remove-override ${own.email} 3361`)).toMatchObject(isReported);
  await after(3 * hourMs);
  expect(risesIn(quiet)).toEqual([expect.stringContaining("+33: $0.04, then $0.045")]);
  expect(risesIn(own)).toEqual([]);
});
