import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { durations, slotMs } from "../../shared/messages/counts/arrivals.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import type { Customer } from "../support/api.ts";
import { runSchedule } from "../support/functions.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { jsonOf, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The alarms and the command of deliveries, while a carrier delivers one country, never delivers another, and rejects a third.
 */

const log: string[] = [];
const operated = useOperatedGateway({ log: (line) => log.push(line) });
const numbers = { GB: "447700900", FR: "336123450", LU: "352621000", IE: "353851234" } as const;
let customer: Customer;
let carrier: HttpCarrier;

beforeAll(async () => {
  const [accepts, rejects] = [says(200, "{}"), says(422)];
  carrier = await HttpCarrier.start((response, request, body) =>
    (body.includes(numbers.LU) ? rejects : accepts)(response, request, body),
  );
  customer = await (await operated.register({ balance: 100 })).withApiKey();
  const settings = carrier.settings({
    body: { to: "{to}", text: "{text}", callback: "{callbackUrl}" },
    receipts: { statusPath: "status", delivered: ["yes"], undelivered: ["no"] },
  });
  await outputOf(`carriers set two --settings ${await operated.fileOf(settings)}`);
  await outputOf("routes set default --carriers two");
  // Now a slot of the figures begins, in which all messages are sent. The watch judges only the newest two.
  operated.gateway.advanceClock(2 * slotMs - (Date.now() % slotMs));
});
afterAll(async () => {
  vi.useRealTimers();
  await carrier.stop();
});

const Submitted = z.object({ callback: z.string() });

/** Sends messages, and then reports on each as the carrier does. */
async function send(country: keyof typeof numbers, count: number, status?: "no" | "yes"): Promise<void> {
  carrier.asked.length = 0;
  const all = Array.from({ length: count }, async (_, index) =>
    customer.send({ to: `${numbers[country]}${100 + index}` }),
  );
  await Promise.all(all);
  await vi.waitFor(() => expect(carrier.asked).toHaveLength(count), patience);
  if (status === undefined) return;
  for (const { body } of carrier.asked) {
    const { callback } = Submitted.parse(JSON.parse(body));
    const headers = { "content-type": "application/json" };
    await fetch(callback, { method: "POST", headers, body: JSON.stringify({ status }) });
  }
}

const Row = z.looseObject({ country: z.string(), accepted: z.int(), delivered: z.int() });

it("a country that is never delivered and one that is rejected have alarms, and the command shows them", async () => {
  const startedAt = performance.now();
  await send("GB", 70, "yes");
  const secondsAtMost = (performance.now() - startedAt) / 1_000;
  await send("FR", 20, "no");
  await send("LU", 16);
  await send("IE", 2);
  // The next batches write the counts that waited in the functions.
  operated.gateway.advanceClock(5 * minuteMs);
  await send("GB", 1, "yes");
  // The commands have the time of this process, which may still be before midnight.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 20 * minuteMs });
  const rows = await vi.waitFor(async () => {
    const found = await jsonOf("deliveries --by carrier,country --hours 1", Row);
    expect(found.reduce((sum, { delivered }) => sum + delivered, 0)).toBeGreaterThanOrEqual(70);
    return found;
  }, patience);
  vi.useRealTimers();
  // The least of the measured durations that fits, or a shorter one.
  const fast = {
    half: expect.toBeOneOf(durations.slice(0, 1 + durations.findIndex((s) => s >= secondsAtMost))),
  };
  expect(rows).toMatchObject([
    { carrier: "two", country: "GB", failed: 0, undelivered: 0, rate: 1, secondsToReceipt: fast },
    {
      carrier: "two",
      country: "FR",
      accepted: 20,
      delivered: 0,
      undelivered: 20,
      withoutReceipt: 0,
      rate: 0,
      rateOfAccepted: 0,
    },
    { carrier: "two", country: "LU", accepted: 0, failed: 16, rate: null, rateOfAccepted: null },
    { carrier: "two", country: "IE", accepted: 2, withoutReceipt: 2, rate: null, rateOfAccepted: 0 },
  ]);
  log.length = 0;
  await runSchedule(operated.gateway, "WatchCarriers");
  // A busy machine may take long for a submission.
  const findings = log
    .filter((line) => line.includes('"usualShare"') && !line.includes("carrier.late"))
    .map((line) => JSON.parse(line));
  expect(findings).toMatchObject([
    { event: "carrier.failing", carrier: "two", country: "LU", count: 16, share: 0 },
    { event: "carrier.deliveries_low", carrier: "two", country: "FR", count: 20, share: 0 },
  ]);
  expect(log.join("\n")).toContain('"LowDeliveryRates":1');
});

it("deliveries have columns for people", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 20 * minuteMs });
  const lines = (await outputOf("deliveries --by country --country FR")).split("\n");
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, " | "))).toEqual([
    "COUNTRY | ACCEPTED | FAILED | THROTTLED | DELIVERED | UNDELIVERED | NO RECEIPT | RATE | OF ACCEPTED | IN 10 S | SUBMITTED IN | RECEIPT IN",
    expect.stringMatching(
      /^FR \| +20 \| +0 \| +0 \| +0 \| +20 \| +0 \| +0.0% \| +0.0% \| +[\d.]+% \| +\d+s, \d+s \| +\d+s, \d+s$/,
    ),
    "The seconds are those of half of the messages, and of 95 in 100. SUBMITTED IN begins when a message is due.",
    "",
  ]);
  const Hour = z.object({ hour: z.string(), class: z.string() });
  const [{ hour, class: ofClass } = { hour: "", class: "" }] = await jsonOf(
    "deliveries --by hour,class",
    Hour,
  );
  expect(hour).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00Z$/);
  expect(ofClass).toBe("transactional");
  expect(await outputOf("deliveries --carrier three")).toBe("No messages were submitted in this time.\n");
  expect(await rejectionOf("deliveries --by number", 2)).toContain("carrier,country,class,hour");
});

it("a carrier that takes seven seconds for each message is found at the next look", async () => {
  const { gateway } = operated;
  // The watch judges only the newest two slots.
  gateway.advanceClock(4 * slotMs);
  carrier.answer = (...call) => {
    gateway.advanceClock(7 * secondMs);
    says(200, "{}")(...call);
  };
  await send("IE", 20);
  carrier.answer = says(200, "{}");
  gateway.advanceClock(slotMs);
  await send("IE", 1);
  log.length = 0;
  // The batch of the last message has written the counts that waited.
  await vi.waitFor(async () => {
    await runSchedule(gateway, "WatchCarriers");
    const findings = log.filter((line) => line.includes('"carrier.late"')).map((line) => JSON.parse(line));
    expect(findings[0]).toMatchObject({ carrier: "two", level: "warn" });
    expect(findings[0].count).toBeGreaterThanOrEqual(15);
  }, patience);
  expect(log.join("\n")).toContain('"LateCarriers":1');
});
