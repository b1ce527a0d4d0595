import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import type { WebhookEvent } from "../../shared/api/contract/events.ts";
import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { listInbound } from "../../shared/messages/inbound/list.ts";
import { receiveInboundMessage, type ReceivedMessage } from "../../shared/messages/inbound/receive.ts";
import {
  assignNumber,
  findNumber,
  releaseNumber,
  releaseNumbersOf,
} from "../../shared/messages/numbers/record.ts";
import { deleteOptOut, optOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, putOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { advance } from "../support/clock.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { takeJobs } from "../support/queues.ts";
import { allRows } from "../support/rows.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { ownerOf } from "../support/viewer.ts";

const phone = "447700900123";
const page = { page: 1, limit: 20 };

let organizationId: string;
let number: string;
let lastNumber = 12_025_550_100;
beforeEach(async () => {
  organizationId = newId("org");
  lastNumber += 1;
  number = String(lastNumber);
  await assignNumber({ number, organizationId });
});

function reply(message: string, fields: Partial<ReceivedMessage> = {}): ReceivedMessage {
  return replyOf({ from: phone, to: number, message, ...fields });
}

async function sourceOf(organization = organizationId): Promise<string | undefined> {
  return (await findOptOut(organization, phone))?.source;
}

async function texts(organization = organizationId): Promise<string[]> {
  return (await listInbound(ownerOf(organization), page)).rows.map(({ message }) => message);
}

async function events(): Promise<{ eventId: string; event: WebhookEvent }[]> {
  const jobs = z.array(WebhookJob).parse(await takeJobs("webhookDeliveries"));
  return jobs.flatMap((job) => (job.kind === "event" ? [{ eventId: job.eventId, event: job.event }] : []));
}

it("an inbound message is listed, newest first, for the organization with its number, which is notified", async () => {
  await receiveInboundMessage(reply("first", { receivedAt: "2026-03-01T10:00:00.000Z" }));
  advance(1_000);
  await receiveInboundMessage(reply("second"));
  expect(await texts()).toEqual(["second", "first"]);
  const { rows } = await listInbound(ownerOf(organizationId), { ...page, limit: 1 });
  const [shown] = rows;
  expect(shown).toMatchObject({ from: phone, to: number, message: "second" });
  const told = await events();
  expect(told.map(({ event }) => event)).toEqual(
    expect.arrayContaining([expect.objectContaining({ event: "message.received", data: shown })]),
  );
  expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(2);
  expect(await texts(newId("org"))).toEqual([]);
});

it("an inbound message that its carrier repeats is kept, notified and obeyed once", async () => {
  const stop = reply("STOP");
  await receiveInboundMessage(stop);
  expect(await sourceOf()).toBe("reply");
  expect(await events()).toHaveLength(1);
  await receiveInboundMessage(reply("START"));
  expect(await sourceOf()).toBeUndefined();
  await events();
  // The carrier did not receive our response, and calls again with the same message.
  await receiveInboundMessage({ ...stop, callbackId: newId("inb") });
  expect(await sourceOf()).toBeUndefined();
  expect(await texts()).toEqual(["START", "STOP"]);
  expect(await events()).toEqual([]);
  // Another carrier may have given the same id to another message.
  await receiveInboundMessage({ ...reply("STOP"), carrierId: stop.carrierId, carrier: "twilio" });
  expect(await sourceOf()).toBe("reply");
});

it("a job whose worker died before it notified is completed when it is repeated", async () => {
  const stop = reply("stop");
  vi.stubEnv(environmentNames.queueUrl.webhookDeliveries, "http://127.0.0.1:9/none");
  await expect(receiveInboundMessage(stop)).rejects.toThrow("does not exist");
  vi.unstubAllEnvs();
  await receiveInboundMessage(stop);
  await receiveInboundMessage(stop);
  expect(await texts()).toEqual(["stop"]);
  const told = await events();
  expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(1);
  expect(await sourceOf()).toBe("reply");
});

it("a STOP whose worker died before it obeyed is obeyed when the carrier repeats it", async () => {
  const stop = reply("STOP");
  let isDead = false;
  interceptTableRequests(async (command, send) => {
    if (isDead) throw new Error("the worker is dead");
    const answer = await send();
    // It dies as soon as the message is stored.
    isDead = JSON.stringify(command).includes("inboundMessage");
    return answer;
  });
  await expect(receiveInboundMessage(stop)).rejects.toThrow("the worker is dead");
  vi.restoreAllMocks();
  expect([await texts(), await sourceOf()]).toEqual([["STOP"], undefined]);
  await receiveInboundMessage({ ...stop, callbackId: newId("inb") });
  expect([await texts(), await sourceOf()]).toEqual([["STOP"], "reply"]);
});

it("a message of another person counts, although the carrier uses its id again", async () => {
  const first = reply("STOP");
  const other = "15005550009";
  await receiveInboundMessage(first);
  await receiveInboundMessage({ ...first, from: other, callbackId: newId("inb") });
  expect(await texts()).toEqual(["STOP", "STOP"]);
  expect(await findOptOut(organizationId, other)).toMatchObject({ source: "reply" });
});

it("a STOP that has no effect is not shown as one", async () => {
  for (const from of ["ACME", "62003"]) await receiveInboundMessage(reply("STOP", { from }));
  const { rows } = await listInbound(ownerOf(organizationId), page);
  expect(rows.map(({ from, message, keyword }) => [from, message, keyword])).toEqual([
    ["62003", "STOP", undefined],
    ["ACME", "STOP", undefined],
  ]);
  await receiveInboundMessage(reply("HELP", { from: "ACME" }));
  expect((await listInbound(ownerOf(organizationId), page)).rows[0]).toMatchObject({ keyword: "help" });
});

it("START lifts an opt-out by STOP, and none of the organization's own", async () => {
  await optOut(organizationId, phone, "api");
  await receiveInboundMessage(reply("stop"));
  await receiveInboundMessage(reply("start"));
  expect(await sourceOf()).toBe("api");
  await deleteOptOut(organizationId, phone);
  expect(await sourceOf()).toBeUndefined();
  await receiveInboundMessage(reply("stop"));
  await receiveInboundMessage(reply("help"));
  expect(await sourceOf()).toBe("reply");
  await receiveInboundMessage(reply("Start!"));
  expect(await sourceOf()).toBeUndefined();
});

it("STOP to a number that several share applies to all of them, and after a keyword to its organization", async () => {
  const [pizza, taxi] = [newId("org"), newId("org")];
  const shared = "90909";
  await assignNumber({ number: shared, organizationId: pizza, keyword: "Pizza" });
  await assignNumber({ number: shared, organizationId: taxi, keyword: "taxi" });
  await receiveInboundMessage(reply("pizza with ham", { to: shared }));
  expect([await texts(pizza), await texts(taxi)]).toEqual([["pizza with ham"], []]);
  await receiveInboundMessage(reply("Stop TAXI", { to: shared }));
  expect([await sourceOf(pizza), await sourceOf(taxi)]).toEqual([undefined, "reply"]);
  await receiveInboundMessage(reply("STOP", { to: shared }));
  expect([await sourceOf(pizza), await sourceOf(taxi)]).toEqual(["reply", "reply"]);
  await receiveInboundMessage(reply("nothing of theirs", { to: shared }));
  expect(await texts(pizza)).toEqual(expect.not.arrayContaining(["nothing of theirs"]));
});

it("STOP to a number of very many reaches each of them once, in jobs of a bounded size", async () => {
  const shared = "90910";
  const owners = Array.from({ length: 120 }, () => newId("org"));
  const keywords = Object.fromEntries(owners.map((owner, index) => [`WORD${index}`, owner]));
  const record = { entity: "number", number: shared, keywords, updatedAt: "2026-01-01", version: 1 } as const;
  await putItem(putOf(keys.number(shared), record));
  const stop = reply("STOP", { to: shared });
  await receiveInboundMessage(stop);
  const jobs = z.array(QueuedCallback).parse(await takeJobs("carrierCallbacks"));
  const parts = jobs.flatMap((job) => (job.kind === "inbound" ? [job] : []));
  const sizes = parts.map(({ organizationIds = [] }) => organizationIds.length);
  expect(sizes.toSorted((one, other) => one - other)).toEqual([20, 50, 50]);
  // One unreadable record does not stop the others.
  const [broken = ""] = owners;
  await putItem(putUnchecked(keys.optOut(broken, phone), { entity: "unknown" }));
  const failing = parts.filter(({ organizationIds = [] }) => organizationIds.includes(broken));
  const neighbours = failing.flatMap(({ organizationIds = [] }) => organizationIds.slice(-1));
  expect(neighbours).toHaveLength(1);
  await expect(receiveInboundMessage(failing[0] ?? stop)).rejects.toThrow("cannot be read");
  expect(await Promise.all(neighbours.map(async (each) => sourceOf(each)))).toEqual(["reply"]);
  await deleteItem(keys.optOut(broken, phone));
  for (const part of [...parts, ...failing]) await receiveInboundMessage(part);
  for (const owner of owners) {
    expect(await sourceOf(owner)).toBe("reply");
    expect(await texts(owner)).toEqual(["STOP"]);
  }
  const told = await events();
  expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(owners.length);
  expect(await takeJobs("carrierCallbacks")).toEqual([]);
}, 60_000);

it("a number has one organization, or keywords of several, and is released with an erased organization", async () => {
  const other = newId("org");
  await expect(assignNumber({ number, organizationId: other })).rejects.toThrow("alone");
  await expect(assignNumber({ number, organizationId, keyword: "PIZZA" })).rejects.toThrow("alone");
  await assignNumber({ number, organizationId });
  await releaseNumber(number);
  await expect(releaseNumber(number)).rejects.toThrow("belongs to no organization");
  await assignNumber({ number, organizationId: other, keyword: "taxi" });
  await expect(assignNumber({ number, organizationId })).rejects.toThrow("shared");
  await expect(assignNumber({ number, organizationId, keyword: "TAXI" })).rejects.toThrow(other);
  await expect(assignNumber({ number, organizationId, keyword: "stop" })).rejects.toThrow("means stop");
  await expect(assignNumber({ number, organizationId, keyword: "two words" })).rejects.toThrow("one word");
  await assignNumber({ number, organizationId, keyword: "pizza" });
  await releaseNumbersOf(other);
  expect(await findNumber(number)).toMatchObject({ keywords: { PIZZA: organizationId } });
});

it("an inbound message to a number without an organization creates nothing", async () => {
  await releaseNumber(number);
  const before = await allRows();
  await receiveInboundMessage(reply("stop"));
  expect(await allRows()).toEqual(before);
});

it("inbound messages expire with the stage's retention of messages, and go with an erased number", async () => {
  vi.stubEnv(environmentNames.messageRetentionDays, "45");
  await receiveInboundMessage(reply("for a time"));
  advance(46 * dayMs);
  expect(await texts()).toEqual([]);
  vi.useRealTimers();
  expect(await texts()).toEqual(["for a time"]);
  expect(await eraseNumber(organizationId, phone)).toMatchObject({ inbound: 1, optOutsKept: 0 });
  expect(await texts()).toEqual([]);
});

it("a message counts only from the carrier of its number, and an earlier number without one has any", async () => {
  await receiveInboundMessage(reply("STOP", { carrier: "hx" }));
  await assignNumber({ number, organizationId, carrier: "hx" });
  await receiveInboundMessage(reply("START", { carrier: "hy", receivedAt: "2099-01-01T00:00:00.000Z" }));
  await receiveInboundMessage(reply("YES I approve", { carrier: "hy" }));
  expect(await sourceOf()).toBe("reply");
  expect(await texts()).toEqual(["STOP"]);
  expect(await events()).toHaveLength(1);
  // The carrier stays when the number is assigned again, and all its keywords share it.
  await assignNumber({ number, organizationId });
  await receiveInboundMessage(reply("START", { carrier: "hx", receivedAt: "2099-01-01T00:00:00.000Z" }));
  expect(await texts()).toHaveLength(2);
  expect(await sourceOf()).toBeUndefined();
  await releaseNumber(number);
  await assignNumber({ number, organizationId, keyword: "pizza", carrier: "hx" });
  await assignNumber({ number, organizationId: newId("org"), keyword: "taxi" });
  await releaseNumber(number, "taxi");
  expect((await findNumber(number))?.carrier).toBe("hx");
});
