import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { pause, resume } from "../../shared/platform/jobs/pause.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { Customer } from "../support/api.ts";
import { Faults, isBy } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { startOwnGateway } from "../support/own-gateway.ts";

const faults = new Faults();
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await startOwnGateway(faults);
});
afterAll(async () => gateway.stop());

const SandboxRecord = z.object({ calls: z.number() });

async function carrierCalls(ids: readonly string[]): Promise<number[]> {
  const found = await Promise.all(ids.map(async (id) => findItem(SandboxRecord, keys.sandboxMessage(id))));
  return found.map((record) => record?.calls ?? 0);
}

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
    await vi.waitFor(() => expect(looks(ids[0] ?? "")).toBeGreaterThan(before + 1), { timeout: 20_000 });
  }
  await vi.waitFor(() => expect(Math.min(...ids.map(looks))).toBeGreaterThan(0), { timeout: 20_000 });
  expect(await carrierCalls(ids)).toEqual([0, 0, 0]);
  const waiting = await Promise.all(ids.map(async (id) => customer.message(id)));
  expect(waiting.map(({ status }) => status)).toEqual(["queued", "queued", "queued"]);

  await resume("sending");
  gateway.advanceClock(minuteMs);
  await vi.waitFor(
    async () => {
      const sent = await Promise.all(ids.map(async (id) => customer.message(id)));
      expect(sent.map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(await carrierCalls(ids)).toEqual([1, 1, 1]);
}, 120_000);
