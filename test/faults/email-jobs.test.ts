import { expect, it, vi } from "vitest";

import { errorResponse, type AwsRequest } from "../../infra/local/local-aws.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { call, Customer, password, type ApiResponse } from "../support/api.ts";
import { bringAgain, emailsTo, tokenIn, waitForEmail } from "../support/emails.ts";
import { dropAnswer, isBy, loseRequest } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const { gateway, faults } = await gatewayOfFile();

async function register(): Promise<Customer> {
  return Customer.register({ baseUrl: gateway.url });
}

async function verify(token: string): Promise<ApiResponse> {
  return call("/v1/auth/verify-email", { json: { token, password }, baseUrl: gateway.url });
}

/** The jobs that were queued for emails, the newest last. */
function queuedJobs(): unknown[] {
  return faults.seen
    .filter(({ operation, body }) => operation === "sqs:SendMessage" && body.includes('\\"kind\\":\\"'))
    .map(({ body }) => JSON.parse(JSON.parse(body).MessageBody));
}

/** Waits until SES has rejected all attempts of a number of jobs: the SDK makes three for each. */
async function sesFailed(jobs = 1): Promise<void> {
  const isSend = isBy("SendEmail", "ses:SendEmail");
  await vi.waitFor(() => expect(faults.seen.filter(isSend)).toHaveLength(3 * jobs), patience);
}

function failSes(): void {
  const unavailable = async () => errorResponse("InternalServiceErrorException", "no", 503);
  faults.next(isBy("SendEmail", "ses:SendEmail"), unavailable, 3);
}

it("an email that SES rejects is sent once when SES accepts emails again", async () => {
  failSes();
  const customer = await register();
  await sesFailed();
  expect(emailsTo(gateway, customer.email)).toEqual([]);
  const jobs = queuedJobs();
  expect(jobs).toHaveLength(1);
  // Its lease lasts a minute, and its queue delivers the job again after two.
  gateway.advanceClock(2 * minuteMs);
  failSes();
  expect(await bringAgain(gateway, ...jobs)).toMatchObject({ batchItemFailures: [expect.anything()] });
  gateway.advanceClock(2 * minuteMs);
  expect(await bringAgain(gateway, ...jobs)).toEqual({ batchItemFailures: [] });
  expect((await verify(tokenIn(await waitForEmail(gateway, customer.email)))).status).toBe(200);
  expect(await bringAgain(gateway, ...jobs)).toEqual({ batchItemFailures: [] });
  expect(emailsTo(gateway, customer.email)).toHaveLength(1);
});

it("of two simultaneous jobs for one email after an outage, one sends it", async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  faults.next(isBy("SendEmail", "ses:SendEmail"), async (request, next) => {
    begun.resolve();
    await goOn.promise;
    return next(request);
  });
  const customer = await register();
  await begun.promise;
  const [job] = queuedJobs();
  // It must be delivered again, because the first job may fail.
  expect(await bringAgain(gateway, job)).toMatchObject({ batchItemFailures: [expect.anything()] });
  goOn.resolve();
  await waitForEmail(gateway, customer.email);
  await vi.waitFor(
    async () => expect(await bringAgain(gateway, job)).toEqual({ batchItemFailures: [] }),
    patience,
  );
  expect(emailsTo(gateway, customer.email)).toHaveLength(1);
});

it("an email whose job was lost is still sent, and a sent one is not sent again", async () => {
  faults.next(isBy("Register", "sqs:SendMessage"), loseRequest, 3);
  const customer = await register();
  const other = await register();
  await waitForEmail(gateway, other.email);
  expect(emailsTo(gateway, customer.email)).toEqual([]);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  gateway.advanceClock(17 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await waitForEmail(gateway, customer.email);
  // The other job of the same minute is done when a third one is, because that was queued later.
  const last = await register();
  await waitForEmail(gateway, last.email);
  expect(emailsTo(gateway, other.email)).toHaveLength(1);
});

it("an email whose worker lost the response to its lease is sent by that worker", async () => {
  const isLease = ({ body }: AwsRequest): boolean =>
    body.includes("SENT_EMAIL#") && body.includes("leaseToken");
  faults.next((request) => isBy("SendEmail", "dynamodb:UpdateItem")(request) && isLease(request), dropAnswer);
  await waitForEmail(gateway, (await register()).email);
  expect(faults.seen.filter(isLease)).toHaveLength(2);
});

it("a registration whose response from the queue was lost still sends its email", async () => {
  faults.next(isBy("Register", "sqs:SendMessage"), dropAnswer);
  const customer = await register();
  await waitForEmail(gateway, customer.email);
  expect(customer.organizationId).toMatch(/^org_/);
});
