import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { pythonPrograms } from "../../infra/build/python-programs.ts";
import { writeWheel } from "../../infra/build/sdks/wheel.ts";
import { startScriptedServer, type ScriptedResponse } from "../support/scripted-server.ts";
import { firstCall, openAccount, runProgram, type Account } from "./account.ts";

const run = promisify(execFile);
const program = path.join(import.meta.dirname, "python/program.py");
const hostile = path.join(import.meta.dirname, "python/hostile.py");

let folder: string;
let programs: string;
let account: Account;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-python-"));
  const wheel = await writeWheel(folder);
  programs = await pythonPrograms("test/sdks/python/requirements.txt");
  const install = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel];
  await run(path.join(programs, "python"), install);
  account = await openAccount();
});
afterAll(async () => {
  await account.receiver.stop();
  await rm(folder, { recursive: true });
});

const python = async (input: object, env = account.env): Promise<unknown> =>
  runProgram([path.join(programs, "python"), program], input, env, folder);

describe("the Python SDK", () => {
  it("sends, reads, lists and changes, and raises errors with their code", async () => {
    const result = await python({ command: "send", to: "15005550000" });
    expect(result).toEqual({
      id: expect.stringMatching(/^msg_/),
      read: expect.stringMatching(/^msg_/),
      listed: [expect.stringMatching(/^msg_/), expect.stringMatching(/^msg_/)],
      page: [1, 2],
      thresholds: [0.5, 0.5, null],
      code: "400 VALIDATION_ERROR to True",
    });
  });

  it("verifies a webhook call, and rejects a changed one", async () => {
    const call = await firstCall(account);
    expect(await python({ command: "verify", ...call })).toEqual(JSON.parse(call.payload));
    const signature = call.headers["x-service-signature"];
    const headers = { "X-Service-Signature": signature };
    const old = { command: "verify", ...call, headers, allow_unsigned_time: true };
    expect(await python(old)).toMatchObject({ event: "message.sent" });
    const rejected = [
      { ...call, payload: `${call.payload} ` },
      { ...call, secret: "whsec_AAAA" },
      { ...call, headers },
      { ...call, headers: { ...call.headers, "webhook-timestamp": "1" } },
      { ...call, tolerance: "nan" },
      { ...call, headers: {} },
      { ...call, headers: { "X-Service-Signature": "zz" } },
    ];
    for (const changed of rejected) {
      await expect(python({ command: "verify", ...changed })).rejects.toThrow("WebhookVerificationError");
    }
  });

  it("signs calls for tests, has options for single calls, and errors that survive pickle", async () => {
    expect(await python({ command: "rest" })).toEqual({
      event: "ping",
      scheduled: "2099-01-02T03:04:05Z",
      numbers: { from: "15005550000", to: "12065550100", message: "+1" },
      batch: { messages: [{ to: "15005550000", message: "+1" }] },
      error: expect.stringMatching(/^VALIDATION_ERROR: .* to: /),
      isOfPackage: true,
      empty: "the parameter id is empty",
      refused: true,
    });
  });

  const runHostile = async (...options: string[]): Promise<unknown> =>
    runProgram([path.join(programs, "python"), hostile, ...options], {}, account.env, folder);

  it("shows no part of a credential that it cannot send, and repeats no such call", async () => {
    expect(await runHostile()).toEqual({ leaks: [], classes: ["ValueError"], delays: [] });
  });

  it("rejects each malformed webhook call with its own error", async () => {
    const seed = process.env["WEBHOOKS_SEED"] ?? String(Date.now());
    const outcomes = ['accepted {"event": "ping"}', "rejected"];
    expect(await runHostile(seed), `WEBHOOKS_SEED=${seed}`).toEqual(outcomes);
  });

  it("does the same asynchronously", async () => {
    const { env, receiver } = await openAccount();
    const result = await python({ command: "send_async", to: "+15005550000" }, env);
    expect(result).toMatchObject({ listed: [expect.stringMatching(/^msg_/)], page: [1, 1] });
    await receiver.stop();
  });

  it("passes mypy's strict checks, with programs that use it, and is valid for Python 3.9", async () => {
    const mypy = path.join(programs, "mypy");
    for (const target of [[program], ["--package", "sms_gateway"]]) {
      const { stdout } = await run(mypy, ["--strict", "--python-version", "3.10", ...target], {
        cwd: folder,
      });
      expect(stdout).toContain("no issues found");
    }
    const source = `
import ast, pathlib, sms_gateway
for file in pathlib.Path(sms_gateway.__file__).parent.glob("*.py"):
    ast.parse(file.read_text(), feature_version=(3, 9))
    print(file.name)`;
    const { stdout } = await run(path.join(programs, "python"), ["-W", "error", "-c", source]);
    expect(stdout).toContain("_client.py");
  });
});

describe("the Python SDK's repeats", () => {
  const success: ScriptedResponse = { status: 200, body: { data: { id: "done", balance: 1 } } };
  const failure = (status: number, headers = {}, code = "UNAVAILABLE"): ScriptedResponse => ({
    status,
    headers,
    body: { error: { code, message: "It failed.", requestId: "r-1" } },
  });

  it.each([
    ["a read", "read", [failure(503), failure(500), success], { outcome: "1", delays: [0.375, 0.75] }],
    [
      "a lost connection",
      "read",
      [(response) => response.destroy(), success],
      { outcome: "1", delays: [0.375] },
    ],
    ["a time-out", "read", [() => undefined, success], { outcome: "1", delays: [0.375] }],
    ["a send", "send", [failure(502), success], { outcome: "done", delays: [0.375] }],
    [
      "not a new webhook",
      "create",
      [failure(503)],
      { outcome: "RequestError 503 UNAVAILABLE None", delays: [] },
    ],
    ["a new webhook after a 429", "create", [failure(429), success], { outcome: "done", delays: [0.375] }],
    [
      "after Retry-After",
      "read",
      [failure(429, { "Retry-After": "7" }), success],
      { outcome: "1", delays: [7] },
    ],
    [
      "not after an hour",
      "read",
      [failure(429, { "Retry-After": "3600" })],
      { outcome: "RequestError 429 UNAVAILABLE 3600.0", delays: [] },
    ],
    [
      "not after the last check",
      "create",
      [failure(429, {}, "TOO_MANY_CHECKS")],
      { outcome: "RequestError 429 TOO_MANY_CHECKS None", delays: [] },
    ],
    [
      "at most twice",
      "read",
      [failure(504)],
      { outcome: "RequestError 504 UNAVAILABLE None", delays: [0.375, 0.75] },
    ],
  ] satisfies [string, string, ScriptedResponse[], object][])(
    "%s",
    async (_, operation, script, expected) => {
      const server = await startScriptedServer(script);
      const env = { SMS_GATEWAY_URL: server.url, SMS_GATEWAY_KEY: "nn_key" };
      expect(await python({ command: "repeat", operation }, env)).toEqual(expected);
      const keys = new Set(server.requests.map(({ headers }) => headers["idempotency-key"]));
      expect([...keys].map((key) => typeof key)).toEqual([operation === "send" ? "string" : "undefined"]);
      await server.stop();
    },
  );

  it("are the same asynchronously", async () => {
    const server = await startScriptedServer([failure(503), success]);
    const env = { SMS_GATEWAY_URL: server.url, SMS_GATEWAY_KEY: "nn_key" };
    expect(await python({ command: "repeat_async" }, env)).toEqual({ outcome: "done", delays: [0.375] });
    await server.stop();
  });
});
