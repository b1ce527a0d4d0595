import type { ServerResponse } from "node:http";
import { inspect } from "node:util";

import { afterEach, describe, expect, it, vi } from "vitest";

import type { AnyOptions, Endpoint } from "../../shared/api/client/call.ts";
import { ConnectionError, RequestError, SmsGatewayError } from "../../shared/api/client/errors.ts";
import { createClient } from "../../shared/api/client/package.ts";
import { callReliably, type CallOptions, type ClientSettings } from "../../shared/api/client/retries.ts";
import { routes } from "../../shared/api/routes.ts";
import { startScriptedServer, type ScriptedResponse } from "../support/scripted-server.ts";

const success: ScriptedResponse = { status: 200, body: { data: { id: "done" } } };
const failure = (status: number, code = "UNAVAILABLE", headers = {}): ScriptedResponse => ({
  status,
  headers,
  body: { error: { code, message: "It failed.", requestId: "r-1", docUrl: "https://sms.example.com/docs" } },
});
const noResponse = (response: ServerResponse): void => void response.destroy();

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Calls an endpoint of a server that responds as scripted, without real delays. */
async function play(
  script: readonly ScriptedResponse[],
  endpoint: Endpoint,
  options: AnyOptions & CallOptions = {},
  settings: Partial<ClientSettings> = {},
) {
  const server = await startScriptedServer(script);
  stops.push(async () => server.stop());
  const delaysMs: number[] = [];
  const result = await callReliably(
    {
      baseUrl: server.url,
      random: () => 0.5,
      delay: async (delayMs) => void delaysMs.push(delayMs),
      ...settings,
    },
    endpoint,
    options,
  ).catch((error: unknown) => error);
  return { result, delaysMs, requests: server.requests };
}

describe("the client", () => {
  it.each([500, 502, 503, 504, 429])(
    "repeats a read after the status %s, with growing delays",
    async (status) => {
      const { result, delaysMs } = await play([failure(status), failure(status), success], routes.getWallet);
      expect(result).toEqual({ id: "done" });
      expect(delaysMs).toEqual([375, 750]);
    },
  );

  it("takes off the plus signs of a message's numbers, and of nothing else", async () => {
    const body = { to: "+15005550000", message: "+1", values: { to: "+1" } };
    const { requests } = await play([success], routes.sendSms, { body });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ ...body, to: "15005550000" });
    const inbound = { from: "+15005550000", to: "+12065550100", message: "+1" };
    const simulated = await play([success], routes.testInbound, { body: inbound });
    const numbers = { from: "15005550000", to: "12065550100" };
    expect(JSON.parse(simulated.requests[0]?.body ?? "")).toEqual({ ...inbound, ...numbers });
    const batch = await play([success], routes.sendBatch, { body: { messages: [body] } });
    expect(JSON.parse(batch.requests[0]?.body ?? "")).toEqual({ messages: [{ ...body, to: "15005550000" }] });
    const others = await play([success], routes.createContact, { body: { phoneNumber: "+1" } });
    expect(others.requests[0]?.body).toBe('{"phoneNumber":"+1"}');
  });

  it("repeats a read whose connection is lost", async () => {
    const { result, delaysMs } = await play([noResponse, success], routes.getWallet);
    expect(result).toEqual({ id: "done" });
    expect(delaysMs).toHaveLength(1);
  });

  it("limits the time of each attempt", async () => {
    const { result, requests } = await play(
      [() => undefined, success],
      routes.getWallet,
      {},
      { timeoutMs: 50 },
    );
    expect(result).toEqual({ id: "done" });
    expect(requests).toHaveLength(2);
  });

  it("has limits, headers and a view of the response for each call", async () => {
    const statuses: number[] = [];
    const options = {
      maxRetries: 0,
      timeoutMs: 50,
      headers: { "X-Trace": "1" },
      onResponse: ({ status }: Response) => void statuses.push(status),
    };
    expect((await play([() => undefined], routes.getWallet, options)).requests).toHaveLength(1);
    const { requests } = await play([failure(503)], routes.getWallet, options);
    expect(requests[0]?.headers).toMatchObject({ "x-trace": "1" });
    expect(statuses).toEqual([503]);
  });

  it("states the code, the reason and the first field of an error, and the first cause of a lost connection", async () => {
    const details = [{ path: "to", message: "is required" }];
    const body = { error: { code: "VALIDATION_ERROR", message: "Not valid.", requestId: "r", details } };
    const { result } = await play([{ status: 400, body }], routes.sendSms, { body: {} });
    expect(result).toMatchObject({
      message: "VALIDATION_ERROR: Not valid. to: is required",
      reason: "Not valid.",
    });
    expect(result).toBeInstanceOf(SmsGatewayError);
    const refused = await callReliably(
      { baseUrl: "http://127.0.0.1:1", maxRetries: 0 },
      routes.getWallet,
      {},
    ).catch(String);
    expect(refused).toMatch(/ConnectionError: no valid response from the gateway: (?!fetch failed)/);
  });

  it("sends nothing without an id", async () => {
    const { result, requests } = await play([success], routes.getSms, { params: { id: "" } });
    expect(result).toBeInstanceOf(TypeError);
    expect(requests).toEqual([]);
  });

  const secret = "nn_secret";
  const wrongTexts = ["\n", "\u201d", "\u00e9", "\u0000", "\ud800"].map((wrong) => secret + wrong + secret);

  it.each([...wrongTexts, " ", Buffer.from(secret)])(
    "sends and quotes no header such as %j",
    async (text) => {
      vi.stubGlobal("OPERATIONS", { sendSms: routes.sendSms });
      vi.stubGlobal("VERSION", "1");
      const send = vi.fn<() => Promise<Response>>();
      const call = async (settings: object, options: object = {}): Promise<unknown> => {
        const all = { baseUrl: "https://sms.example.com", fetch: send, ...settings };
        return createClient(all)["sendSms"]?.({ body: {}, ...options });
      };
      for (const result of await Promise.allSettled([
        call({ credential: text }),
        call({ headers: { "X-Key": text, [`${secret} `]: "1" } }),
        call({ baseUrl: `https://ada:${secret}@sms.example.com` }),
        call({ baseUrl: `https://ada:${secret}@sms example` }),
        call({}, { headers: { "X-Key": text } }),
        call({}, { idempotencyKey: text }),
      ])) {
        expect(result).toMatchObject({ status: "rejected", reason: expect.any(TypeError) });
        expect(inspect(result)).not.toContain(secret);
      }
      expect(send).not.toHaveBeenCalled();
      vi.unstubAllGlobals();
    },
  );

  it("throws the last failure after the most retries", async () => {
    const lost = await play([noResponse], routes.getWallet, {}, { maxRetries: 1 });
    expect(lost.result).toBeInstanceOf(ConnectionError);
    expect(lost.requests).toHaveLength(2);
    const { result, requests } = await play([failure(503)], routes.getWallet);
    expect(result).toBeInstanceOf(RequestError);
    expect(result).toMatchObject({
      status: 503,
      code: "UNAVAILABLE",
      requestId: "r-1",
      docUrl: "https://sms.example.com/docs",
    });
    expect(requests).toHaveLength(3);
  });

  it("repeats a send under one idempotency key, which it makes itself", async () => {
    const script = [noResponse, failure(409, "IDEMPOTENCY_IN_PROGRESS"), success];
    const { result, requests } = await play(script, routes.sendSms, { body: { to: "15005550000" } });
    expect(result).toEqual({ id: "done" });
    const keys = new Set(requests.map(({ headers }) => headers["idempotency-key"]));
    expect([...keys]).toEqual([expect.stringMatching(/^\S{32,}$/)]);
    const given = await play([failure(500), success], routes.sendSms, {
      body: {},
      idempotencyKey: "order-1",
    });
    expect(given.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["order-1", "order-1"]);
  });

  it("does not repeat a change that could then happen twice, except after a 429", async () => {
    const body = { url: "https://shop.example/sms-events" };
    for (const script of [[failure(500)], [failure(503)], [noResponse]]) {
      expect((await play(script, routes.createWebhook, { body })).requests).toHaveLength(1);
    }
    const limited = await play([failure(429, "RATE_LIMITED"), success], routes.createWebhook, { body });
    expect(limited.result).toEqual({ id: "done" });
    expect(limited.requests[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  it("does not repeat what the gateway rejected", async () => {
    const { result, requests } = await play([failure(402, "INSUFFICIENT_BALANCE")], routes.sendSms, {
      body: {},
    });
    expect(result).toMatchObject({ status: 402, code: "INSUFFICIENT_BALANCE" });
    expect(requests).toHaveLength(1);
  });

  it.each(["TOO_MANY_CHECKS", "TOO_MANY_SENDS"])("does not repeat a request after %s", async (code) => {
    const { result, requests } = await play([failure(429, code), success], routes.checkVerification, {
      body: { code: "123456" },
    });
    expect(result).toMatchObject({ status: 429, code });
    expect(requests).toHaveLength(1);
  });

  it("waits as long as Retry-After requires, up to a minute", async () => {
    const short = failure(429, "RATE_LIMITED", { "Retry-After": "7" });
    expect((await play([short, success], routes.getWallet)).delaysMs).toEqual([7_000]);
    const long = await play([failure(429, "RATE_LIMITED", { "Retry-After": "3600" })], routes.getWallet);
    expect(long.result).toMatchObject({ retryAfterSeconds: 3_600 });
    expect(long.requests).toHaveLength(1);
  });

  it("stops when its caller cancels the call, also during a delay", async () => {
    const controller = new AbortController();
    const { result, requests } = await play(
      [failure(503), success],
      routes.getWallet,
      { signal: controller.signal },
      {
        delay: async () => {
          controller.abort(new Error("cancelled"));
        },
      },
    );
    expect(result).toMatchObject({ message: "cancelled" });
    expect(requests).toHaveLength(1);
  });
});
