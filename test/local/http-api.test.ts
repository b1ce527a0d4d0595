import { setTimeout as delay } from "node:timers/promises";

import { afterEach, expect, it, vi } from "vitest";

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

it("lets requests wait that come before it is ready, and tells them when it never will be", async () => {
  api = await HttpApi.start(0, () => undefined);
  const early = fetch(api.url);
  await expect(Promise.race([early, delay(100, "waits")])).resolves.toBe("waits");
  api.serve([{ routeKey: "$default", invoke: async () => ({ statusCode: 204 }) }]);
  expect((await early).status).toBe(204);

  const failed = await HttpApi.start(0, () => undefined);
  const waiting = fetch(failed.url);
  await expect(Promise.race([waiting, delay(100, "waits")])).resolves.toBe("waits");
  const stopped = failed.stop();
  expect((await waiting).status).toBe(503);
  await stopped;
});
