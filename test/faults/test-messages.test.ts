import { beforeAll, beforeEach, expect, it, vi } from "vitest";

import type { AwsRequest } from "../../infra/local/local-aws.ts";
import type { Message } from "../../shared/api/contract/sms.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { Customer } from "../support/api.ts";
import { dropAnswer, loseRequest } from "../support/faults.ts";
import { runSchedule, killing } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const { gateway, faults } = await gatewayOfFile();
let tester: Customer;

beforeAll(async () => {
  // The scheduler begins at the minute of its first run.
  await runSchedule(gateway, "ReleaseScheduledJobs");
});
beforeEach(async () => {
  tester = await (await Customer.register({ baseUrl: gateway.url })).withApiKey({ test: true });
});

/** The transaction that records a test message. */
function isRecord({ operation, body }: AwsRequest): boolean {
  return operation === "dynamodb:TransactWriteItems" && body.includes("MESSAGES#test#");
}

async function messages(): Promise<Message[]> {
  return (await tester.client.listSms()).rows;
}

it("a test message is sent although its function is killed before it queues the message", async () => {
  faults.next(isRecord, killing(gateway, "ApiSendSms", "after"));
  expect((await tester.trySend()).status).toBeGreaterThanOrEqual(500);
  expect(await messages()).toMatchObject([{ status: "queued" }]);
  gateway.advanceClock(17 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await vi.waitFor(async () => expect(await messages()).toMatchObject([{ status: "sent" }]), patience);
});

it("a test message whose job is lost on its way to the queue is sent later", async () => {
  faults.next(({ operation }) => operation.startsWith("sqs:SendMessage"), loseRequest, 3);
  await tester.trySend();
  faults.clear();
  gateway.advanceClock(17 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await vi.waitFor(async () => expect(await messages()).toMatchObject([{ status: "sent" }]), patience);
});

it("a test message is recorded once although the response of its transaction is lost", async () => {
  faults.next(isRecord, dropAnswer);
  await tester.send();
  await vi.waitFor(async () => expect(await messages()).toMatchObject([{ status: "sent" }]), patience);
});
