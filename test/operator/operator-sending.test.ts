import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { listInbound } from "../../shared/messages/inbound/list.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { getOptOut, recordWord } from "../../shared/messages/opt-outs/opt-outs.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { call, errorOf, password } from "../support/api.ts";
import { Faults, isBy, loseRequest } from "../support/faults.ts";
import { auditLog, jsonOf, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { ownerOf } from "../support/viewer.ts";

const faults = new Faults();
const operated = useOperatedGateway({ interceptor: faults.interceptor });
const { register } = operated;
const phoneNumber = "15005550031";

/** Adds a job to a queue of the stack. */
async function addJob(queueOutput: string, body: object): Promise<void> {
  const { stack, sqsEndpoint: endpoint } = operated.gateway;
  await new SQSClient({ endpoint, useQueueUrlAsEndpoint: false }).send(
    new SendMessageCommand({
      QueueUrl: stack.outputs.find(({ name }) => name === queueOutput)?.value,
      MessageBody: JSON.stringify(body),
      MessageGroupId: "test",
    }),
  );
}

it("a suspended customer cannot log in, and waiting messages fail, until they are resumed", async () => {
  const customer = await register({ balance: 1 });
  const { email, organizationId } = customer;
  const baseUrl = operated.gateway.url;
  const logIn = async () => call("/v1/auth/login", { json: { email, password }, baseUrl });
  // The test starts its job.
  faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
  const { id } = await customer.send();

  const suspended = await outputOf(`organizations suspend ${email} --reason 'Ticket 7: phishing'`);
  expect(suspended).toMatch(/^org_\w+ is suspended since \S+ \(Ticket 7: phishing\)\n$/);
  expect(errorOf(await logIn())).toEqual({ status: 403, code: "ORGANIZATION_SUSPENDED" });
  expect(errorOf(await customer.trySend())).toEqual({ status: 403, code: "ORGANIZATION_SUSPENDED" });
  const shown = await outputOf(`organizations show ${email}`);
  expect(shown).toMatch(/^State +suspended since \S+ \(Ticket 7: phishing\)$/m);
  await addJob(outputNames.queueUrl("transactionalSends"), { organizationId, messageId: id });
  await vi.waitFor(async () => {
    const found = await findItem(MessageRecord, messageKey({ organizationId, id }), { consistent: true });
    expect(found).toMatchObject({ errorCode: "ORGANIZATION_SUSPENDED", refund: "done" });
  }, patience);

  const resumed = await outputOf(`organizations resume ${email} --reason 'Ticket 7: not them'`);
  expect(resumed).toBe(`${organizationId} is active\n`);
  expect(await auditLog("organizations resume", email)).toMatchObject([
    { outcome: "done", subject: { reason: "Ticket 7: not them" } },
  ]);
  expect((await logIn()).status).toBe(200);
  expect((await customer.trySend()).status).toBe(202);
  expect((await customer.message(id)).status).toBe("failed");
});

it("parked jobs are counted, shown only by their ids, and moved back so that they are done", async () => {
  const customer = await register({ balance: 1 });
  faults.next(isBy("ApiSendSms", "sqs:SendMessageBatch"), loseRequest, 3);
  const { id } = await customer.send();
  const { organizationId } = customer;
  const job = { organizationId, messageId: id, to: "15005550000" };
  await addJob(outputNames.deadLetterQueueUrl("transactionalSends"), job);

  const queues = await outputOf("dead-letters list");
  expect(queues).toMatch(/^transactionalSends +1 {2}One-time codes or transactional messages .*queued$/m);
  expect(queues).toMatch(/^refunds +0 {2}Failed messages are not refunded/m);

  const jobs = "dead-letters list --queue transactionalSends";
  const shown = await outputOf(jobs);
  expect(shown).toMatch(new RegExp(`^\\S+Z {2}0 min +1 {2}\\S+ {2}${organizationId} ${id}$`, "m"));
  expect(shown).not.toContain("15005550000");
  // Looking at a job does not hide it.
  expect(await jsonOf(jobs, z.object({ ids: z.array(z.string()) }))).toEqual([{ ids: [organizationId, id] }]);

  expect((await customer.message(id)).status).toBe("queued");
  expect(await jsonOf("dead-letters redrive transactionalSends", z.unknown())).toEqual([
    { queue: "transactionalSends", moved: 1, left: 0 },
  ]);
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
});

it("a parked START of AWS that is redriven does not lift a later STOP", async () => {
  const { organizationId } = await register();
  const number = "12025550177";
  await assignNumber({ number, organizationId });
  const said = (messageBody: string) => ({
    originationNumber: `+${phoneNumber}`,
    destinationNumber: `+${number}`,
    inboundMessageId: messageBody,
    messageBody,
  });
  await addJob(outputNames.deadLetterQueueUrl("carrierCallbacks"), said("START"));
  const parkedAt = Date.now();
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(parkedAt + 2), patience);
  await addJob(outputNames.queueUrl("carrierCallbacks"), said("STOP"));
  const optOut = await vi.waitFor(async () => getOptOut(organizationId, phoneNumber), patience);
  expect(optOut).toMatchObject({ source: "reply" });
  expect(Date.parse(optOut.createdAt)).toBeGreaterThan(parkedAt - secondMs);

  await outputOf("dead-letters redrive carrierCallbacks");
  await vi.waitFor(async () => {
    const { rows } = await listInbound(ownerOf(organizationId), { page: 1, limit: 20 });
    expect(rows.map(({ message }) => message).toSorted()).toEqual(["START", "STOP"]);
  }, patience);
  expect(await getOptOut(organizationId, phoneNumber)).toEqual(optOut);
});

it("the operator lifts a STOP, which is in the audit log without the number; the customer cannot", async () => {
  const { client, email, organizationId } = await register();
  await recordWord(organizationId, phoneNumber, { word: "stop", saidAt: new Date().toISOString() });
  const params = { phoneNumber };
  await expect(client.deleteOptOut({ params })).rejects.toMatchObject({ code: "OPT_OUT_BY_REPLY" });
  expect(await client.getOptOut({ params })).toMatchObject({ source: "reply" });

  const lift = `opt-outs remove +${phoneNumber} ${email} --reason 'Ticket 12'`;
  expect(await outputOf(lift)).toContain("again");
  await expect(client.getOptOut({ params })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await rejectionOf(lift)).toContain("has not opted out");

  const entries = await auditLog("opt-outs remove", email);
  expect(entries).toMatchObject([
    {
      subject: { reason: "Ticket 12" },
      before: { source: "reply", phoneNumberDigest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      after: { lifted: true },
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain(phoneNumber);

  const rows = await jsonOf(
    `organizations export ${email}`,
    z.looseObject({ entity: z.optional(z.string()) }),
  );
  expect(rows.filter(({ entity }) => entity === "optOut")).toEqual([]);
  expect(rows).toContainEqual(expect.objectContaining({ entity: "liftedOptOut", phoneNumber }));
});

// The last test, because a sender caches the pause for a minute.
it("sending is paused with a reason that the next operator reads, and resumed", async () => {
  expect(await outputOf("sending show")).toBe("active\n");
  const paused = await outputOf("sending pause --reason 'The carrier is broken'");
  expect(paused).toMatch(/^paused since \S+ \(The carrier is broken\)\n$/);
  expect(await outputOf("sending show")).toBe(paused);
  const Resumed = z.strictObject({ entity: z.string(), resumedAt: z.string() });
  expect(await jsonOf("sending resume", Resumed)).toHaveLength(1);
  expect(await outputOf("sending show")).toMatch(/^active, resumed at \S+\n$/);
});
