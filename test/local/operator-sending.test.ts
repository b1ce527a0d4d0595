import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { call, Customer, errorOf, password } from "../support/api.ts";
import { Faults, isBy, loseRequest } from "../support/faults.ts";
import { objectsOf, operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

let gateway: LocalGateway;
let stop: () => Promise<void>;
const faults = new Faults();

beforeAll(async () => {
  ({ gateway, stop } = await startOperatedGateway({ interceptor: faults.interceptor }));
});
afterAll(async () => {
  await stop();
});

function queueOutput(name: string): string {
  return gateway.stack.outputs.find((output) => output.name === name)?.value ?? "";
}

it("a suspended customer cannot log in, and waiting messages fail, until they are resumed", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  const logIn = async () => call("/v1/auth/login", { json: { email, password }, baseUrl: gateway.url });
  // The test starts its job.
  faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
  const { id } = await customer.send();

  const suspended = await operator(["organizations", "suspend", email, "--reason", "Ticket 7: phishing"]);
  expect(suspended.code).toBe(0);
  expect(suspended.out).toMatch(/^org_\w+ is suspended since \S+ \(Ticket 7: phishing\)\n$/);
  expect(errorOf(await logIn())).toEqual({ status: 403, code: "ORGANIZATION_SUSPENDED" });
  expect(errorOf(await customer.trySend())).toEqual({ status: 403, code: "ORGANIZATION_SUSPENDED" });
  const { out } = await operator(["organizations", "show", email]);
  expect(out).toMatch(/^State +suspended since \S+ \(Ticket 7: phishing\)$/m);
  await new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false }).send(
    new SendMessageCommand({
      QueueUrl: queueOutput(outputNames.queueUrl("transactionalSends")),
      MessageBody: JSON.stringify({ organizationId, messageId: id }),
      MessageGroupId: organizationId,
    }),
  );
  await vi.waitFor(async () => {
    const found = await findItem(MessageRecord, messageKey({ organizationId, id }), { consistent: true });
    expect(found).toMatchObject({ errorCode: "ORGANIZATION_SUSPENDED", refund: "done" });
  }, patience);

  const resumed = await operator(["organizations", "resume", email, "--reason", "Ticket 7: not them"]);
  expect(resumed).toMatchObject({ code: 0, out: `${organizationId} is active\n` });
  expect((await operator(["audit-log", email])).out).toMatch(
    /organizations resume +done +\{.*Ticket 7: not them/,
  );
  expect((await logIn()).status).toBe(200);
  expect((await customer.trySend()).status).toBe(202);
  expect((await customer.message(id)).status).toBe("failed");
});

it("parked jobs are counted, shown only by their ids, and moved back so that they are done", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
  const { id } = await customer.send();
  const { organizationId } = customer;
  await new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false }).send(
    new SendMessageCommand({
      QueueUrl: queueOutput(outputNames.deadLetterQueueUrl("transactionalSends")),
      MessageBody: JSON.stringify({ organizationId, messageId: id, to: "15005550000" }),
      MessageGroupId: organizationId,
    }),
  );

  const list = await operator(["dead-letters", "list"]);
  expect(list.code).toBe(0);
  expect(list.out).toMatch(/^transactionalSends +1 {2}One-time codes or transactional messages .*queued$/m);
  expect(list.out).toMatch(/^refunds +0 {2}Failed messages are not refunded/m);

  const jobs = ["dead-letters", "list", "--queue", "transactionalSends"];
  const shown = await operator(jobs);
  expect(shown.out).toMatch(new RegExp(`^\\S+Z {2}0 min +1 {2}\\S+ {2}${organizationId} ${id}$`, "m"));
  expect(shown.out).not.toContain("15005550000");
  // Looking at a job does not hide it.
  const [job] = objectsOf(await operator([...jobs, "--json"]), z.object({ ids: z.array(z.string()) }));
  expect(job?.ids).toEqual([organizationId, id]);

  expect((await customer.message(id)).status).toBe("queued");
  const redriven = await operator(["dead-letters", "redrive", "transactionalSends", "--json"]);
  expect(JSON.parse(redriven.out)).toEqual({ queue: "transactionalSends", moved: 1, left: 0 });
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
});

// The last test, because a sender caches the pause for a minute.
it("sending is paused with a reason that the next operator reads, and resumed", async () => {
  expect(await operator(["sending", "show"])).toMatchObject({ code: 0, out: "active\n" });
  const paused = await operator(["sending", "pause", "--reason", "The carrier is broken"]);
  expect(paused.out).toMatch(/^paused since \S+ \(The carrier is broken\)\n$/);
  expect((await operator(["sending", "show"])).out).toBe(paused.out);
  const resumed = await operator(["sending", "resume", "--json"]);
  expect(objectsOf(resumed, z.strictObject({ entity: z.string(), resumedAt: z.string() }))).toHaveLength(1);
  expect((await operator(["sending", "show"])).out).toMatch(/^active, resumed at \S+\n$/);
});
