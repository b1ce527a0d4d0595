import { expect, it } from "vitest";

import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import type { Carrier } from "../../shared/carriers/carrier.ts";
import type { Carriers } from "../../shared/carriers/carriers.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { recordWord } from "../../shared/messages/opt-outs/opt-outs.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { GetCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { noteReplies, statesOfOrganizations } from "../../shared/tenancy/organizations/record.ts";
import {
  accept,
  inOrder,
  only,
  ScriptedCarrier,
  senderOf,
  loseResponse,
  named,
  reject,
  throttle,
} from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { laterJobOf, recordOf, statusOf, acceptFor } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openOrganization } from "../support/wallets.ts";

/*
 * A send job carries all facts that select a carrier, so that most messages are acquired without a read.
 */

/** An accepted message, and its job as the queue has it. */
async function jobOf(fields: Partial<SendSmsRequest> = {}): Promise<MessageJob> {
  return queuedFor(await openOrganization(1_000_000), fields);
}

async function queuedFor(organizationId: string, fields: Partial<SendSmsRequest> = {}): Promise<MessageJob> {
  const { messageId } = await acceptFor(organizationId, fields);
  const queue = fields.messageType === "marketing" ? "marketingSends" : "transactionalSends";
  const jobs = (await takeJobs(queue)).map((job) => MessageJob.parse(job));
  // The later job of another test may have become visible.
  return MessageJob.parse(jobs.find((job) => job.messageId === messageId));
}

/** Counts the table requests for one message. */
function countRequests({ messageId }: MessageJob): { reads: number; writes: number } {
  const counts = { reads: 0, writes: 0 };
  interceptTableRequests(async (command, send) => {
    if (command instanceof GetCommand && command.input.Key?.["sk"] === messageId) counts.reads += 1;
    if (command instanceof UpdateCommand && command.input.Key?.["sk"] === messageId) counts.writes += 1;
    return send();
  });
  return counts;
}

/** Two carriers: the first has the numbers with a prefix, and the second all others. */
function routed(prefix: string, first: Carrier, second: Carrier): Carriers {
  const all = named({ first, second }).map((each) => ({ ...each, isDisabled: false }));
  return {
    routeOf: ({ to }) => all.filter(({ name }) => name === (to.startsWith(prefix) ? "first" : "second")),
    named: (name) => all.find((each) => each.name === name),
  };
}

it("a message is acquired and sent without a read, and its job has neither its text nor all of its number", async () => {
  const job = await jobOf({ expiresInSeconds: 600 });
  expect(job.facts).toMatchObject({
    numberPrefix: "1500555",
    senderId: "ACME",
    segments: 1,
    totalMicros: 7_900,
  });
  expect(JSON.stringify(job)).not.toMatch(/15005550|hello/);
  const requests = countRequests(job);
  const carrier = new ScriptedCarrier(accept);
  expect((await submitMessage(job, only(carrier)))?.status).toBe("sent");
  expect(requests).toEqual({ reads: 0, writes: 2 });
  expect(carrier.received).toMatchObject([{ to: "15005550000", text: "hello", from: "ACME" }]);
});

it("a job of the previous release has no facts, and its message is read", async () => {
  const { organizationId, messageId } = await jobOf();
  const job = { organizationId, messageId };
  const requests = countRequests(job);
  expect((await submitMessage(job, only()))?.status).toBe("sent");
  expect(requests).toEqual({ reads: 1, writes: 2 });
});

it.each([
  ["numberPrefix", "4470090"],
  ["senderId", "OTHER"],
  ["messageType", "otp"],
  ["segments", 2],
  ["totalMicros", 1],
  ["validUntil", "2199-01-01T00:00:00.000Z"],
])("a job whose %s differs from the message decides nothing", async (field, value) => {
  const job = await jobOf();
  const stale = MessageJob.parse({ ...job, facts: { ...job.facts, [field]: value } });
  const [american, other] = [new ScriptedCarrier(accept), new ScriptedCarrier(accept)];
  const requests = countRequests(job);
  const ended = await submitMessage(stale, senderOf(routed("1", american, other)));
  expect(ended).toMatchObject({ status: "sent", carrier: "first" });
  expect([american, other].map(({ received }) => received.length)).toEqual([1, 0]);
  // Leased and released, and leased once more by the message's own facts.
  expect(requests).toEqual({ reads: 0, writes: 4 });
  expect(await recordOf(job)).toMatchObject({ unresolvedAttempts: 1, attempts: 2 });
});

it("a route for digits that the job does not carry applies", async () => {
  const job = await jobOf({ to: "15005550123" });
  const [special, usual] = [new ScriptedCarrier(accept), new ScriptedCarrier(accept)];
  const ended = await submitMessage(job, senderOf(routed("150055501", special, usual)));
  expect(ended).toMatchObject({ status: "sent", carrier: "first" });
  expect(usual.received).toHaveLength(0);
});

it("a first job that is delivered again does not return to a carrier that rejected the message", async () => {
  const job = await jobOf();
  const first = new ScriptedCarrier(reject);
  const second = new ScriptedCarrier((call) => (call === 1 ? throttle() : accept()));
  const sender = inOrder(named({ first, second }));
  const later = await laterJobOf(job, sender);
  expect(later.facts).toBeUndefined();
  expect(await recordOf(job)).toMatchObject({ status: "queued", rejectedBy: ["first"] });
  // SQS delivers at least once.
  expect(await submitMessage(job, sender)).toMatchObject({ status: "sent", carrier: "second" });
  expect(first.received).toHaveLength(1);
  expect(await submitMessage(job, sender)).toBeUndefined();
  expect(second.received).toHaveLength(2);
});

it("a first job that is delivered again finds a lease that another sender holds, or that has lapsed", async () => {
  const job = await jobOf();
  const carrier = new ScriptedCarrier(loseResponse, false);
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("another sender holds this message");
  advance(121_000);
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  expect(carrier.received).toHaveLength(1);
  // The attempt of the sender whose lease has lapsed is kept.
  expect((await recordOf(job)).attemptLog).toMatchObject([{ carrier: "sandbox", outcome: "unknown" }]);
});

it("a job without a message is dropped, with facts and without", async () => {
  const { facts, ...job } = await jobOf();
  const ofMissing = { ...job, messageId: "msg_01J00000000000000000000000" };
  for (const each of [ofMissing, { ...ofMissing, facts }]) {
    expect(await submitMessage(each, only())).toBeUndefined();
  }
});

it("a STOP after the message was accepted is obeyed, and so is an opt-out from marketing", async () => {
  const job = await jobOf();
  const { organizationId } = job;
  await noteReplies(organizationId);
  await recordWord(organizationId, "15005550000", { word: "stop", saidAt: new Date().toISOString() });
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(job, only(carrier));
  expect(await statusOf(job)).toBe("failed: MESSAGE_RECIPIENT_OPTED_OUT");
  expect(carrier.received).toHaveLength(0);
  expect((await jobOf({ messageType: "marketing" })).facts).toBeUndefined();
});

it("a message that waits for throughput reserves it once, and continues by its facts", async () => {
  advance(0);
  const job = await jobOf();
  const slow = { name: "slow", carrier: new ScriptedCarrier(accept), segmentsPerSecond: 1 };
  const reserved: number[] = [];
  const throughput = {
    reserve: async () => {
      reserved.push(1);
      return Date.now() + 10_000;
    },
  };
  const sender = inOrder([slow], { throughput });
  const later = await laterJobOf(job, sender);
  expect(later).toMatchObject({ reservedStart: { carrier: "slow" }, facts: job.facts });
  expect(reserved).toHaveLength(1);
  advance(10_000);
  const requests = countRequests(job);
  expect((await submitMessage(later, sender))?.status).toBe("sent");
  expect(reserved).toHaveLength(1);
  expect(requests).toEqual({ reads: 0, writes: 2 });
});

it("an organization is read once for all jobs of a batch, before any lease is acquired", async () => {
  const job = await jobOf();
  const { organizationId } = job;
  const others = [await queuedFor(organizationId), await queuedFor(organizationId)];
  const steps: string[] = [];
  interceptTableRequests(async (command, send) => {
    if (command instanceof GetCommand && command.input.Key?.["pk"] === `ORG#${organizationId}`) {
      steps.push(command.input.ConsistentRead === true ? "read" : "eventual read");
    }
    // The leases, and the writes of the outcomes.
    if (command instanceof UpdateCommand && "#leaseToken" in Object(command.input.ExpressionAttributeNames)) {
      steps.push("lease");
    }
    return send();
  });
  const sender = only(undefined, { stateOf: statesOfOrganizations() });
  const ended = await Promise.all([job, ...others].map(async (each) => submitMessage(each, sender)));
  expect(ended.map((each) => each?.status)).toEqual(["sent", "sent", "sent"]);
  expect(steps.slice(0, 4)).toEqual(["read", "lease", "lease", "lease"]);
  expect(steps.filter((step) => step.endsWith("read"))).toEqual(["read"]);
});

it("a message that has changed since it was queued is sent as it is", async () => {
  const job = await jobOf();
  const key = messageKey({ organizationId: job.organizationId, id: job.messageId });
  await updateItem(MessageRecord, updateOf(key, { set: { senderId: "LATER" } }));
  const carrier = new ScriptedCarrier(accept);
  await submitMessage(job, only(carrier));
  expect(carrier.received).toMatchObject([{ from: "LATER" }]);
});
