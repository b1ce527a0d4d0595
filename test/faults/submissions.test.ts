import { beforeEach, describe, expect, it, vi } from "vitest";

import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { DashboardStats } from "../../shared/api/contract/dashboard.ts";
import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { Customer, dataOf } from "../support/api.ts";
import { sandboxCalls } from "../support/carriers.ts";
import { dropAnswer, isBy, loseRequest, type Fault } from "../support/faults.ts";
import { functionNamed, killing, reconcile } from "../support/functions.ts";
import { expectPaidMessages } from "../support/ledger.ts";
import { storedMessages } from "../support/messages.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The functions that submit messages, with faults. The models in `test/model` end them before and after each request.
 */

const { gateway, faults, log } = await gatewayOfFile();
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
});

/** Delivers a message's job again, as the queue does with a job that was not deleted. */
async function deliverAgain(messageId: string): Promise<unknown> {
  const body = JSON.stringify({ organizationId: customer.organizationId, messageId });
  const record = { messageId: "1", body, attributes: { ApproximateReceiveCount: "2" } };
  return functionNamed(gateway, "SendMessage").invoke({ Records: [record] });
}

/**
 * Distinguishes a sender's requests for an organization's only message from those for other messages. The job of a sender
 * that an earlier test killed is delivered again after its visibility timeout.
 */
function requestsOf(organizationId: string): (request: AwsRequest) => boolean {
  let messageId: string | undefined;
  return ({ body }) => {
    if (body.includes(organizationId)) messageId ??= /msg_\w+/.exec(body)?.[0];
    return body.includes(organizationId) || (messageId !== undefined && body.includes(messageId));
  };
}

describe("a message that was recorded", () => {
  it("is accepted although the queue is down, and sent later", async () => {
    faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
    const response = await customer.trySend();
    expect(response.status).toBe(202);
    const { id } = dataOf(response, AcceptedMessage);
    expect((await customer.message(id)).status).toBe("queued");
    const goOn = Promise.withResolvers<void>();
    const wait: Fault = async (request, next) => {
      await goOn.promise;
      return next(request);
    };
    faults.next(isBy("SendMessage"), wait, 100);
    await reconcile(gateway);
    // The reconciler has seen that it is paid, and it stays even if no sender processes it for days.
    expect((await storedMessages(customer.organizationId))[0]).not.toHaveProperty("expiresAt");
    goOn.resolve();
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    await expectPaidMessages(customer, 1);
  });

  it("is sent immediately although the response to its lease was lost", async () => {
    faults.next(isBy("SendMessage", "dynamodb:UpdateItem"), dropAnswer);
    const { id } = await customer.send();
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    expect(await sandboxCalls(id)).toBe(1);
  });

  it("is sent and counted immediately although the response to its outcome was lost", async () => {
    const isOutcome = (request: AwsRequest): boolean =>
      isBy("SendMessage", "dynamodb:UpdateItem")(request) && request.body.includes("sentAt");
    faults.next(isOutcome, dropAnswer);
    const { id } = await customer.send();
    await vi.waitFor(async () => {
      const { today } = dataOf(await customer.call("/v1/dashboard/stats"), DashboardStats);
      expect(today).toMatchObject({ accepted: 1, sent: 1 });
    }, patience);
    expect((await customer.message(id)).status).toBe("sent");
    expect(await sandboxCalls(id)).toBe(1);
  });

  // A sender makes six calls for a message. It reads the organization and the ledger entry, acquires the lease, calls the
  // sandbox carrier, records the outcome and queues the event.
  it.each([
    [3, "after", 1],
    // The carrier accepted it, but no outcome is known. The repeated submission has the same reference, which it recognizes.
    [4, "after", 2],
    [5, "after", 1],
  ] as const)(
    "is sent although its sender is killed at call %d, %s it is carried out",
    async (call, when, calls) => {
      let count = 0;
      const { promise: gone, resolve: killed } = Promise.withResolvers<void>();
      const isOfCustomer = requestsOf(customer.organizationId);
      faults.next(
        (request) => isBy("SendMessage")(request) && isOfCustomer(request) && (count += 1) === call,
        killing(gateway, "SendMessage", when, killed),
      );
      const { id } = await customer.send();
      // A job that arrived before the sender ended would end with it.
      await gone;
      // Does what the queue does when the job's visibility timeout is over and the lease has lapsed.
      gateway.advanceClock(120_000);
      await vi.waitFor(
        async () => expect(await deliverAgain(id)).toEqual({ batchItemFailures: [] }),
        patience,
      );
      expect((await customer.message(id)).status).toBe("sent");
      expect(await sandboxCalls(id)).toBe(calls);
      await expectPaidMessages(customer, 1);
    },
  );
});

it("a message whose carrier only returns garbage fails with a safe code and is refunded", async () => {
  const isCarrier = (request: AwsRequest): boolean => request.body.includes("SANDBOX#");
  const garbage: Fault = async () => ({ status: 200, headers: {}, body: "<html>password=hunter2" });
  faults.next(isCarrier, garbage, 200);
  const { id } = await customer.send();
  await vi.waitFor(() => expect(faults.seen.filter(isCarrier).length).toBeGreaterThan(0), patience);
  await vi.waitFor(async () => {
    gateway.advanceClock(120_000);
    await deliverAgain(id);
    expect((await customer.message(id)).status).toBe("failed");
  }, patience);
  expect((await customer.message(id)).errorCode).toBe("MESSAGE_OUTCOME_UNKNOWN");
  expect((await customer.call(`/v1/sms/${id}`)).text).not.toContain("hunter2");
  await vi.waitFor(async () => expect(await customer.balance()).toBe(1), patience);
  expect(log.join("\n")).not.toContain("hunter2");
});
