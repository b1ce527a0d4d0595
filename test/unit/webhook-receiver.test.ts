import { request } from "node:http";

import { afterAll, expect, it } from "vitest";

import { startReceiver } from "../../infra/local/webhook-receiver.ts";

const events: string[] = [];
const receiver = await startReceiver({ onCall: ({ event }) => events.push(event) });
afterAll(() => {
  receiver.close();
});

/** The status of a call. `fetch` does not send these headers. */
async function statusOf(headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(receiver.url, { method: "POST", headers }, ({ statusCode }) => {
      resolve(statusCode);
    })
      .on("error", reject)
      .end("{}");
  });
}

it("shows the calls of a local gateway, and none from a page of another host", async () => {
  expect(await statusOf({ "x-service-event": "message.sent" })).toBe(204);
  expect(await statusOf({ host: "evil.example:4000" })).toBe(403);
  expect(await statusOf({ origin: "https://evil.example" })).toBe(403);
  expect(events).toEqual(["message.sent"]);
});
