import { afterEach, expect, it, vi } from "vitest";
import * as z from "zod";

import { HttpApi } from "../../infra/local/http-api.ts";
import { patience } from "../support/patience.ts";

let api: HttpApi;
afterEach(async () => api.stop());

it("answers many requests that come at once, and only so many of them side by side", async () => {
  api = await HttpApi.start(0, () => undefined);
  const goOn = Promise.withResolvers<void>();
  let open = 0;
  let mostOpen = 0;
  const invoke = async (): Promise<unknown> => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    await goOn.promise;
    open -= 1;
    return { statusCode: 204 };
  };
  api.serve([{ routeKey: "$default", invoke }]);
  const answers = Array.from({ length: 50 }, async () => fetch(api.url));
  await vi.waitFor(() => expect(open).toBe(16), patience);
  goOn.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([204]));
  expect(mostOpen).toBe(16);
});

it("lets a caller wait for no more than one request of each other who waits", async () => {
  api = await HttpApi.start(0, () => undefined);
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const invoke = async (event: unknown): Promise<unknown> => {
    const { headers } = z.object({ headers: z.record(z.string(), z.string()) }).parse(event);
    begun.push(headers["authorization"] ?? "nobody");
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
    return { statusCode: 204 };
  };
  api.serve([{ routeKey: "$default", invoke }]);
  const callAs = async (Authorization: string): Promise<number> =>
    (await fetch(api.url, { headers: { Authorization } })).status;
  const busy = Array.from({ length: 40 }, async () => callAs("busy"));
  await vi.waitFor(() => expect(begun).toHaveLength(16), patience);
  // Those of the busy one are all there before the others come: each is let in by hand, one at a time.
  await vi.waitFor(() => expect(api.waitingRequests).toBe(24), patience);
  const others = [callAs("one"), callAs("other")];
  await vi.waitFor(() => expect(api.waitingRequests).toBe(26), patience);
  for (let turn = 0; turn < 3; turn += 1) {
    waiting.shift()?.();
    await vi.waitFor(() => expect(begun).toHaveLength(17 + turn), patience);
  }
  expect(begun.slice(16).toSorted()).toEqual(["busy", "one", "other"]);
  const all = Promise.all([...busy, ...others]);
  await vi.waitFor(() => {
    for (const goOn of waiting.splice(0)) goOn();
    expect(begun).toHaveLength(42);
  }, patience);
  for (const goOn of waiting.splice(0)) goOn();
  expect(new Set(await all)).toEqual(new Set([204]));
});
