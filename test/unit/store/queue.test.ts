import { expect, it, vi } from "vitest";

import { Queue } from "../../../infra/local/store/queue.ts";

it("hides a message for no negative time when it becomes visible meanwhile, which Node would warn of", () => {
  const queue = new Queue(
    "Jobs",
    { visibilityTimeoutMs: 1_000, redrive: undefined },
    { put: () => undefined, delete: () => undefined },
  );
  const timers = vi.spyOn(globalThis, "setTimeout");
  vi.spyOn(Date, "now").mockReturnValueOnce(999).mockReturnValue(1_001);
  queue.add({
    id: "1",
    queueName: "Jobs",
    body: "job",
    attributes: undefined,
    groupId: undefined,
    senderId: "local",
    sentAtMs: 999,
    visibleAtMs: 1_000,
    receiveCount: 0,
    firstReceivedAtMs: undefined,
  });
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([0]);
  queue.close();
  vi.restoreAllMocks();
});
