import { randomUUID } from "node:crypto";

import { expect, it, vi } from "vitest";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { Session } from "../../shared/api/contract/accounts.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { call, Customer, dataOf, password } from "../support/api.ts";
import { bringAgain, emailsTo, waitForEmail, waitForSubject } from "../support/emails.ts";
import { isBy } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const { gateway, faults } = await gatewayOfFile();

/** The jobs that the dispatcher of events has queued for emails. */
function jobsOfEvents(): unknown[] {
  const isQueueing = isBy("DispatchWebhook", "sqs:SendMessage");
  return faults.seen.filter(isQueueing).map(({ body }) => JSON.parse(JSON.parse(body).MessageBody));
}

it("a verified owner gets one email about a low balance, and one a day about the reached cap", async () => {
  const email = `${randomUUID()}@example.com`;
  const organizationName = 'Ada\r\nBcc: eve@example.com <b>& "shop"</b>';
  const json = { email, password, organizationName };
  const registered = await call("/v1/auth/register", { json, baseUrl: gateway.url });
  const { token: credential, organization } = dataOf(registered, Session);
  const ask = async (path: string, body: object, method = "POST"): Promise<number> =>
    (await call(path, { json: body, credential, method, baseUrl: gateway.url })).status;
  const send = async (): Promise<number> =>
    ask("/v1/sms/send", { to: "15005550000", message: "hi", senderId: "ACME" });
  await waitForEmail(gateway, email);
  await noteVerifiedEmail(organization.id);
  expect(await ask("/v1/wallet/top-up", { amount: 1 })).toBe(200);
  expect(await ask("/v1/wallet", { lowBalanceThreshold: 0.99 }, "PATCH")).toBe(200);
  expect([await send(), await send(), await send()]).toEqual([202, 202, 202]);
  const low = await waitForEmail(gateway, email, 2);
  expect(low.subject).toBe('The balance of Ada Bcc: eve@example.com <b>& "shop"</b> is low');
  expect(low.text).toContain("is $0.9842, below your threshold of $0.99.");
  expect(low.html).toContain("Ada Bcc: eve@example.com &lt;b&gt;&amp; &quot;shop&quot;&lt;/b&gt;");
  expect(low.html).not.toContain("<b>");
  expect(await ask("/v1/wallet", { dailySpendCap: 0.02 }, "PATCH")).toBe(200);
  await waitForSubject(gateway, email, "The spending limit was changed");
  expect([await send(), await send()]).toEqual([402, 402]);
  const capped = await waitForEmail(gateway, email, 4);
  expect(capped.subject).toContain("has reached its daily spend cap");
  expect(capped.text).toMatch(
    /\$0\.02\. Messages are rejected, and campaigns wait, until \d{4}-\d\d-\d\d 00:00 UTC\./,
  );
  const isNote = isBy("SendEmail", "dynamodb:UpdateItem");
  await vi.waitFor(() => {
    const notes = faults.seen.filter(isNote).filter(({ body }) => /SENT_EMAIL#evt_.*SET #sentAt/.test(body));
    expect(notes).toHaveLength(2);
  }, patience);
  // Both events are fanned out a second time, in case their first jobs were lost.
  await runSchedule(gateway, "ReleaseScheduledJobs");
  gateway.advanceClock(17 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  const jobs = await vi.waitFor(() => {
    const queued = jobsOfEvents();
    expect(queued.length).toBeGreaterThanOrEqual(4);
    return queued;
  }, patience);
  expect(await bringAgain(gateway, ...jobs)).toEqual({ batchItemFailures: [] });
  expect(emailsTo(gateway, email)).toHaveLength(4);
});

it("an owner without a verified email gets no emails about the wallet", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url, balance: 1 });
  await waitForEmail(gateway, customer.email);
  faults.clear();
  await customer.client.updateWallet({ body: { lowBalanceThreshold: 0.99 } });
  for (let sent = 0; sent < 3; sent += 1) await customer.send();
  const [job] = await vi.waitFor(() => {
    expect(jobsOfEvents()).toHaveLength(1);
    return jobsOfEvents();
  }, patience);
  // The worker may hold the job at this moment.
  await vi.waitFor(async () => {
    expect(await bringAgain(gateway, job)).toEqual({ batchItemFailures: [] });
  }, patience);
  expect(emailsTo(gateway, customer.email)).toHaveLength(1);
});
