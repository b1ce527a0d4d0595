import { expect, it, vi } from "vitest";

import { minuteMs } from "../../shared/platform/clock.ts";
import { pause, resume } from "../../shared/platform/jobs/pause.ts";
import { Customer } from "../support/api.ts";
import { sandboxCalls } from "../support/carriers.ts";
import { isBy } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const { gateway, faults } = await gatewayOfFile();

/** The number of times that a sender has checked whether a message is still paused. */
function looks(id: string): number {
  return faults.seen.filter(
    (request) => isBy("SendMessage", "dynamodb:GetItem")(request) && request.body.includes(id),
  ).length;
}

it("messages that an hour's pause delayed are sent once each after it, and none fails", async () => {
  // Only the clock of the functions can be set forward, not that of the queues, so delayed jobs come soon.
  faults.next(
    isBy("SendMessage", "sqs:SendMessage"),
    async (request, next) => {
      expect(request.body).toContain('"DelaySeconds":120');
      return next({ ...request, body: request.body.replace('"DelaySeconds":120', '"DelaySeconds":1') });
    },
    Number.POSITIVE_INFINITY,
  );
  const registered = await Customer.register({ balance: 1, baseUrl: gateway.url });
  // The API key is valid for longer than the hour.
  const customer = await registered.withApiKey();
  await pause("sending", "The carrier sends everything twice");
  const scheduledAt = new Date(Date.now() + 30 * minuteMs).toISOString();
  const kinds = [{ messageType: "transactional" }, { messageType: "marketing" }, { scheduledAt }] as const;
  const ids: string[] = [];
  for (const kind of kinds) ids.push((await customer.send(kind)).id);

  for (const passed of [20 * minuteMs, 40 * minuteMs]) {
    gateway.advanceClock(passed);
    await runSchedule(gateway, "ReleaseScheduledJobs");
    const before = looks(ids[0] ?? "");
    await vi.waitFor(() => expect(looks(ids[0] ?? "")).toBeGreaterThan(before + 1), patience);
  }
  await vi.waitFor(() => expect(Math.min(...ids.map(looks))).toBeGreaterThan(0), patience);
  expect(await Promise.all(ids.map(sandboxCalls))).toEqual([0, 0, 0]);
  const waiting = await Promise.all(ids.map(async (id) => customer.message(id)));
  expect(waiting.map(({ status }) => status)).toEqual(["queued", "queued", "queued"]);

  await resume("sending");
  gateway.advanceClock(minuteMs);
  await vi.waitFor(async () => {
    const sent = await Promise.all(ids.map(async (id) => customer.message(id)));
    expect(sent.map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
  }, patience);
  expect(await Promise.all(ids.map(sandboxCalls))).toEqual([1, 1, 1]);
});
