import { beforeEach, expect, it, vi } from "vitest";

import { cachedSending } from "../../shared/messages/send/sending-pause.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { pause, readPause, resume } from "../../shared/platform/jobs/pause.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { accept, only, ScriptedCarrier, reject, throttle } from "../support/carriers.ts";
import { recordLog } from "../support/log.ts";
import { acceptedMessage, laterJobOf, recordOf } from "../support/messages.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";

const start = new Date("2030-06-01T12:00:00Z");

beforeEach(async () => {
  vi.setSystemTime(start);
  await deleteItem(keys.pause("sending"));
});

it.each(["otp", "marketing"] as const)(
  "while sending is paused the job of a message (%s) returns to its queue, and the message is unchanged",
  async (messageType) => {
    const job = await acceptedMessage({ messageType });
    const before = await recordOf(job);
    const carrier = new ScriptedCarrier(accept);
    const sending = await pause("sending", "The carrier is broken");
    const queueUrl = config.queueUrl(messageType === "otp" ? "transactionalSends" : "marketingSends");
    expect(await delayedJobs(async () => submitMessage(job, only(carrier, { sending })))).toMatchObject([
      { queueUrl, body: job, delaySeconds: 120 },
    ]);
    expect(carrier.received).toHaveLength(0);
    expect(await recordOf(job)).toEqual(before);

    await submitMessage(job, only(carrier, { sending: await resume("sending") }));
    expect(carrier.received).toHaveLength(1);
    expect((await recordOf(job)).status).toBe("sent");
  },
);

it("the follow-up work of an ended message continues while sending is paused", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, only(new ScriptedCarrier(reject)));
  await takeJobs("refunds");
  const sending = await pause("sending", "The carrier is broken");
  await submitMessage(job, only(undefined, { sending }));
  expect(await takeJobs("refunds")).toEqual([job]);
});

it("the rescheduled time of a message before a pause does not count after it", async () => {
  const job = await acceptedMessage();
  const busy = new ScriptedCarrier(throttle);
  const beforePause = await laterJobOf(job, only(busy));
  const paused = await pause("sending", "The carrier is broken");
  vi.setSystemTime(start.getTime() + 5 * hourMs);
  const duringPause = await laterJobOf(beforePause, only(busy, { sending: paused }));
  const sending = await resume("sending");
  vi.setSystemTime(start.getTime() + 30 * hourMs);
  await submitMessage(duringPause, only(busy, { sending }));
  expect((await recordOf(job)).status).toBe("queued");
});

it("a sender sees a pause, and its end, within a minute, and logs it once a minute", async () => {
  const log = recordLog();
  const warnings = (): number => log.of("sending.paused").length;
  const sending = cachedSending();
  expect(await sending()).toEqual({});
  await pause("sending", "The carrier is broken");
  expect((await sending()).pausedAt).toBeUndefined();
  vi.setSystemTime(start.getTime() + minuteMs);
  const seen = await Promise.all([sending(), sending()]);
  expect(seen.map(({ pausedReason }) => pausedReason)).toEqual([
    "The carrier is broken",
    "The carrier is broken",
  ]);
  expect(warnings()).toBe(1);

  await resume("sending");
  expect((await sending()).pausedAt).toBeDefined();
  vi.setSystemTime(start.getTime() + 2 * minuteMs);
  expect((await sending()).pausedAt).toBeUndefined();
  expect(warnings()).toBe(1);
});

it("a failed read of the pause is repeated by the next job", async () => {
  const sending = cachedSending();
  const table = config.tableName();
  vi.spyOn(config, "tableName").mockReturnValueOnce("nothing-here");
  await expect(sending()).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  expect(config.tableName()).toBe(table);
  expect(await sending()).toEqual({});
});

it("a pause that is on stays as it is, and one that is over is not resumed again", async () => {
  const first = await pause("sending", "The carrier is broken");
  vi.setSystemTime(start.getTime() + minuteMs);
  expect(await pause("sending", "Again")).toEqual(first);
  const resumed = await resume("sending");
  expect(resumed).toMatchObject({ resumedAt: "2030-06-01T12:01:00.000Z" });
  vi.setSystemTime(start.getTime() + 2 * minuteMs);
  expect(await resume("sending")).toEqual(resumed);
  expect(await readPause("sending")).toEqual(resumed);
});
