import { stripVTControlCharacters } from "node:util";

import { expect, it } from "vitest";

import { consoleLine } from "../../infra/local/console.ts";

/** A log line as the terminal shows it, without its time and colors. */
function shown(level: string, event: string, fields: object = {}): string | undefined {
  const line = consoleLine(JSON.stringify({ level, time: "2026-03-01T10:15:30.000Z", event, ...fields }));
  if (line === undefined) return undefined;
  const plain = stripVTControlCharacters(line);
  expect(plain).toMatch(/^\d\d:\d\d:30 {2}\S/);
  return plain.slice("10:15:30  ".length).replaceAll(/ {2,}/g, " | ");
}

it.each([
  [
    { requestId: "r", route: "POST /v1/sms/send", status: 202, durationMs: 35, organizationId: "org_1" },
    "POST /v1/sms/send | 202 | 35 ms",
  ],
  [
    { route: "POST /v1/sms/send", status: 402, durationMs: 1_035, errorCode: "INSUFFICIENT_BALANCE" },
    "POST /v1/sms/send | 402 | 1035 ms | INSUFFICIENT_BALANCE",
  ],
  [{ route: "GET /health", status: 200, durationMs: 3 }, undefined],
])("of request %o a person sees %s", (fields, expected) => {
  expect(shown("info", "request", fields)).toBe(expected);
});

it("sent and failed messages and each call of a webhook are shown", () => {
  const messageId = "msg_1";
  expect(shown("info", "message.sent", { organizationId: "org_1", messageId })).toBe("message sent | msg_1");
  expect(shown("info", "message.failed", { messageId, errorCode: "MESSAGE_UNROUTABLE" })).toBe(
    "message failed | MESSAGE_UNROUTABLE | msg_1",
  );
  const call = { webhookId: "whk_1", eventId: "evt_1", attempt: 2 };
  expect(shown("info", "webhook.called", { ...call, status: 204 })).toBe(
    "webhook called | 204 | whk_1 | attempt 2",
  );
  expect(shown("info", "webhook.called", call)).toBe("webhook called | no response | whk_1 | attempt 2");
});

it("a failure is shown with its error and the cause", () => {
  const cause = { name: "ResourceNotFoundException", message: "no such table", stack: "at …" };
  const error = { name: "Error", message: "the wallet\n  cannot be read", stack: "at …", cause };
  expect(shown("error", "request.crashed", { route: "GET /v1/wallet", error })).toBe(
    "request.crashed | GET /v1/wallet | Error: the wallet cannot be read, caused by ResourceNotFoundException: no such table",
  );
  expect(shown("warn", "job.failed", { attempt: 3, error: { message: "not an error" } })).toBe(
    "job.failed | attempt 3 | not an error",
  );
  expect(shown("error", "ledger.inconsistent", { organizationId: "org_1", seq: 4 })).toBe(
    "ledger.inconsistent | org_1",
  );
});

it("only workers that did something are shown", () => {
  expect(shown("info", "due_jobs.released", { count: 0 })).toBeUndefined();
  expect(shown("info", "wallets.reconciled", { count: 7 })).toBeUndefined();
  expect(consoleLine(JSON.stringify({ _aws: { Timestamp: 0 }, VoidedDebits: 7 }))).toBeUndefined();
  expect(shown("info", "due_jobs.released", { count: 2 })).toBe("due_jobs.released | 2");
});

it.each(["(node:1) Warning: something of Node's", '{"level":"info"}', "17", ""])(
  "what is not of the log's form stays as it is: %s",
  (line) => {
    expect(consoleLine(line)).toBe(line);
  },
);
