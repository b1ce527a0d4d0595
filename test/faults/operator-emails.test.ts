import { expect, it, vi } from "vitest";

import { errorResponse, type AwsRequest } from "../../infra/local/local-aws.ts";
import { noticeOf } from "../../shared/figures/operators/record.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { writeSlot } from "../support/arrivals.ts";
import { bringAgain, emailsTo } from "../support/emails.ts";
import { isBy } from "../support/faults.ts";
import { killing, runSchedule } from "../support/functions.ts";
import { putSent } from "../support/message-records.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The emails to the operators of a stage. Each is sent once, wherever the function that causes it is killed.
 */

const operator = "operator@example.com";
const { gateway, faults } = await gatewayOfFile({ OPERATOR_EMAILS: `${operator} second@example.com` });

const isFinding = isBy("WatchSpending", "dynamodb:TransactWriteItems");

/** Runs the watch. A function that is killed fails its call. */
async function watch(): Promise<void> {
  await runSchedule(gateway, "WatchSpending").catch(() => undefined);
}

const dailySubject = "local: Open work of today";

/** The emails about an organization, beside the daily ones, which may list it too. */
const unusual = (organizationId: string): string[] =>
  emailsTo(gateway, operator).flatMap(({ subject, text }) =>
    subject !== dailySubject && text.includes(organizationId) ? [text] : [],
  );

it("a carrier that fails more than usual is emailed to the operators with its name", async () => {
  await writeSlot(new Date(), { carrier: "acme", country: "SN" }, { failed: 40 });
  await runSchedule(gateway, "WatchCarriers");
  await vi.waitFor(() => {
    const subjects = emailsTo(gateway, operator).map(({ subject }) => subject);
    expect(subjects).toContainEqual(expect.stringContaining("local: carrier.failing acme"));
  }, patience);
});

it.each(["before", "after"] as const)(
  "a watch that is killed %s it records unusual spending loses no email and sends none twice",
  async (when) => {
    const { organizationId } = await Customer.register({ baseUrl: gateway.url });
    await putSent(organizationId, 60, { to: "2348030000000", totalMicros: 14_500 });
    gateway.advanceClock(2 * minuteMs);
    faults.next(isFinding, killing(gateway, "WatchSpending", when));
    await watch();
    expect(unusual(organizationId)).toEqual([]);
    await watch();
    gateway.advanceClock(17 * minuteMs);
    await runSchedule(gateway, "ReleaseScheduledJobs");
    await vi.waitFor(() => expect(unusual(organizationId)).toHaveLength(1), patience);
    await watch();
    gateway.advanceClock(17 * minuteMs);
    await runSchedule(gateway, "ReleaseScheduledJobs");
    expect(unusual(organizationId)).toEqual([
      expect.stringMatching(/NG \S+: 60 messages, 0\.870000 USD, usual 0\.000000 USD/),
    ]);
  },
);

it("each operator gets one email a day about open work, from seven o'clock on", async () => {
  const { client } = await Customer.register({ baseUrl: gateway.url });
  await client.createSenderId({ body: { senderId: "ADASHOP", useCase: "Orders" } });
  await bringAgain(gateway, {
    kind: "billing",
    id: "pay_1-failed",
    organizationId: "org_1",
    notice: { what: "rechargeFailed", paymentId: "pay_1", isOff: false },
  });
  const noted = "recharge failed org_1 pay_1";
  const daily = (to: string): number =>
    emailsTo(gateway, to).filter((each) => each.subject === dailySubject && each.text.includes(noted)).length;
  // The gateway's clock is less than an hour ahead in this file, so that it is between seven and eight o'clock then. If it may
  // be past seven already, the email of today may be sent, so the next day's is awaited.
  const at = Date.now();
  const today = new Date(at).setUTCHours(7, 0, 0, 0);
  const seven = today < at + hourMs ? today + dayMs : today;
  gateway.advanceClock(seven - at);
  for (const delayMs of [0, 0, hourMs]) {
    gateway.advanceClock(delayMs);
    await watch();
    for (const to of [operator, "second@example.com"]) {
      await vi.waitFor(() => expect(daily(to)).toBe(1), patience);
      expect(emailsTo(gateway, to)[0]?.text).toMatch(/sender-ids: 1, the oldest for \d+ h/);
    }
  }
  const day = new Date(seven).toISOString().slice(0, 10);
  await bringAgain(gateway, { kind: "operators", id: `daily-${day}`, notice: { what: "daily" } });
  expect([daily(operator), daily("second@example.com")]).toEqual([1, 1]);
});

it("an address that SES rejects keeps no other operator from the email, and repeats none", async () => {
  const day = "2031-03-03";
  const { key, record } = noticeOf(
    { what: "recharge failed", organizationId: "org_2", paymentId: "pay_2" },
    day,
  );
  await putItem(putOf(key, record));
  const job = { kind: "operators", id: "rejected-1", notice: { what: "unusualSpend", key: key.sk, day } };
  const received = (to: string): number =>
    emailsTo(gateway, to).filter(({ text }) => text.includes("recharge failed org_2 pay_2")).length;
  const isFirst = (request: AwsRequest): boolean =>
    isBy("SendEmail", "ses:SendEmail")(request) && request.body.includes(operator);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    faults.next(isFirst, async () => errorResponse("MessageRejected", "Email address is not verified", 400));
    expect(await bringAgain(gateway, job)).toMatchObject({ batchItemFailures: [expect.anything()] });
    expect([received(operator), received("second@example.com")]).toEqual([0, 1]);
    gateway.advanceClock(2 * minuteMs);
  }
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(await bringAgain(gateway, job)).toEqual({ batchItemFailures: [] });
    expect([received(operator), received("second@example.com")]).toEqual([1, 1]);
  }
});
