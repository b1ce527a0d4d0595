import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { beforeAll, expect, inject, it } from "vitest";
import * as z from "zod/mini";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { allScopes, type Scope } from "../../shared/api/contract/scopes.ts";
import { mcpTools } from "../../shared/api/openapi/tools.ts";
import { call, Customer } from "../support/api.ts";
import { Agent } from "../support/mcp.ts";

const message = { to: "15005550000", message: "hello", senderId: "ACME" };
const Accepted = z.object({ data: z.object({ id: z.string(), status: z.literal("queued") }) });

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 10 });
});

async function keyWith(...scopes: Scope[]): Promise<string> {
  return (await customer.client.createApiKey({ body: { scopes } })).secret;
}

it("connects with a session token or an API key, and with no other credential", async () => {
  for (const credential of [customer.token, await keyWith("read")]) {
    const agent = await Agent.connect(credential);
    expect((await agent.call("getWallet")).body).toMatchObject({ data: { currency: "USD" } });
  }
  await expect(Agent.connect(`nn_${"0".repeat(38)}`)).rejects.toThrow(/UNAUTHORIZED/);
});

it.each(["GET", "DELETE"])(
  "responds to %s with 405, because it has neither streams nor sessions",
  async (method) => {
    const response = await call("/mcp", { method, credential: customer.token });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  },
);

it("offers by default the tools that only read, and with tools=all all that the scopes allow", async () => {
  const expected = (scopes: readonly Scope[], isReading: boolean): string[] =>
    mcpTools()
      .filter(({ scope, annotations }) => scopes.includes(scope) && (!isReading || annotations.readOnlyHint))
      .map(({ name }) => name);
  const reader = await keyWith("read");
  const sender = await keyWith("read", "send");
  expect(await (await Agent.connect(reader, "all")).toolNames()).toEqual(expected(["read"], true));
  expect(await (await Agent.connect(sender)).toolNames()).toEqual(expected(["read", "send"], true));
  expect(await (await Agent.connect(sender, "all")).toolNames()).toEqual(expected(["read", "send"], false));
  const all = await Agent.connect(customer.token, "all");
  expect(await all.toolNames()).toEqual(expected(allScopes, false));
  expect(await all.toolNames()).not.toContain("createApiKey");
  const some = await Agent.connect(customer.token, "all", "wallet,prices");
  expect(await some.toolNames()).toEqual(
    mcpTools().flatMap(({ name, group }) => (group === "wallet" || group === "prices" ? [name] : [])),
  );
  await expect(some.call("sendSms", message)).rejects.toThrow("is not a tool");
  const mistyped = await Agent.connect(customer.token, "all", "wallet,prizes");
  await expect(mistyped.toolNames()).rejects.toThrow(/prizes is not a group. The groups are .*prices/);
});

it("offers a test key the tools that test keys may use, which send test messages", async () => {
  const { secret } = await customer.client.createApiKey({ body: { test: true } });
  const agent = await Agent.connect(secret, "all");
  const names = await agent.toolNames();
  expect(names).toEqual(mcpTools().flatMap(({ name, testKeys }) => (testKeys ? [name] : [])));
  expect(names).toContain("getMe");
  expect(names).not.toContain("getWallet");
  const sent = await agent.call("sendSms", { to: message.to, message: "hello" });
  expect(sent.body).toMatchObject({ data: { test: true } });
  const { to } = message;
  const started = await agent.call("startVerification", { to, code: "271828", idempotencyKey: randomUUID() });
  expect(started.body).toMatchObject({ data: { status: "pending", test: true } });
  const { id } = Object(started.body).data;
  const checked = await agent.call("checkVerification", { id, code: "271828" });
  expect(checked.body).toMatchObject({ data: { status: "approved", valid: true } });
  await expect(agent.call("getWallet")).rejects.toThrow("is not a tool for this credential");
});

it("rejects a call of a tool that it does not offer, with the reason", async () => {
  const reading = await Agent.connect(customer.token, "read");
  await expect(reading.call("sendSms", message)).rejects.toThrow(
    "sendSms changes data: connect to /mcp?tools=all",
  );
  const reader = await Agent.connect(await keyWith("read"), "all");
  await expect(reader.call("sendSms", message)).rejects.toThrow("is not a tool for this credential");
});

it("sends a message once for each idempotencyKey, and reads it", async () => {
  const agent = await Agent.connect(await keyWith("read", "send"), "all");
  const values = { ...message, idempotencyKey: randomUUID() };
  const sent = Accepted.parse((await agent.call("sendSms", values)).body).data;
  const repeated = await agent.call("sendSms", values);
  expect(Accepted.parse(repeated.body).data.id).toBe(sent.id);
  expect(repeated.structured).toEqual(repeated.body);
  expect(repeated.note).toContain("an earlier call");
  const other = await agent.call("sendSms", message);
  expect(other.note).toBeUndefined();
  expect(Accepted.parse(other.body).data.id).not.toBe(sent.id);
  expect((await agent.call("getSms", { id: sent.id })).body).toMatchObject({ data: { id: sent.id } });
  const listed = await agent.call("listSms", { limit: 1, to: message.to });
  expect(listed.body).toMatchObject({ data: [{ to: message.to }], meta: { limit: 1 } });
});

it("returns errors of the API with code, message and fields", async () => {
  const agent = await Agent.connect(customer.token, "all");
  const { error } = await agent.call("sendSms", { ...message, to: "1" });
  expect(error).toMatch(/^VALIDATION_ERROR: .*"path":"to"/);
  const unknown = await agent.call("getSms", { id: `msg_${"0".repeat(26)}` });
  expect(unknown.error).toMatch(/^NOT_FOUND: /);
});

it.each([{}, { id: "." }, { id: ".." }, { id: "" }])("rejects the path parameters %j", async (values) => {
  const agent = await Agent.connect(customer.token);
  expect((await agent.call("getSms", values)).error).toContain("an argument that names an item");
});

it("does not leave the path of an operation", async () => {
  const agent = await Agent.connect(customer.token);
  expect((await agent.call("getSms", { id: "../wallet" })).error).toMatch(/^NOT_FOUND: /);
});

it("serves more calls at the same time than the gateway has places for", async () => {
  const agent = await Agent.connect(customer.token);
  const results = await Promise.all(Array.from({ length: 40 }, async () => agent.call("getWallet")));
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
});

it("limits the bytes of all results of a request, and reports the calls whose results do not fit", async () => {
  const options = { credential: customer.token };
  for (let count = 0; count < 60; count += 1) {
    await customer.client.createTemplate({ body: { name: `t${count}`, body: "漢".repeat(1_600) } });
  }
  const params = { name: "listTemplates", arguments: { limit: 100 } };
  const calls = Array.from({ length: 10 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/call", params }));
  const { status, text } = await call("/mcp", { ...options, json: calls });
  expect(status).toBe(200);
  // The response of the function is a JSON string, of which Lambda returns 6 MB.
  expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6_000_000);
  const Results = z.array(z.object({ result: z.object({ isError: z.optional(z.boolean()) }) }));
  const results = Results.parse(JSON.parse(text)).map(({ result }) => result.isError === true);
  expect(new Set(results)).toEqual(new Set([false, true]));
  expect(results).toHaveLength(10);
  expect(text).toContain("The result is too large. Request fewer rows with `limit`");
});

it.each([
  "application/json",
  "*/*",
  "text/event-stream",
  "text/html;q=0",
  "application/json;q=0.9, */*;q=0.1",
  "",
])("responds in JSON to the Accept header %j", async (accept) => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const headers = { Accept: accept };
  const { status, body } = await call("/mcp", { credential: customer.token, json: ping, headers });
  expect({ status, body }).toEqual({ status: 200, body: { jsonrpc: "2.0", id: 1, result: {} } });
});

it("rejects messages that are too large or no messages", async () => {
  const options = { credential: customer.token };
  const large = await call("/mcp", { ...options, json: { text: "x".repeat(70_000) } });
  expect(large.status).toBe(413);
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const many = await call("/mcp", { ...options, json: Array.from({ length: 11 }, () => ping) });
  expect(many.status).toBe(413);
  const broken = await call("/mcp", { ...options, raw: "{" });
  expect(broken).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
  // The local gateway itself rejects all origins but those of this machine.
  const foreign = { Origin: "http://localhost:1" };
  expect((await call("/mcp", { ...options, headers: foreign, json: {} })).status).toBe(403);
});

it.each(["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])(
  "passes the scenario %s of the conformance suite",
  async (scenario) => {
    const proxy = createServer(
      (request, response) => void forward(request, response, `http://localhost:${port}`),
    );
    const port = await listenOnLoopback(proxy);
    const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
    const options = ["server", "--url", `http://localhost:${port}/mcp`, "--scenario", scenario];
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...options]).finally(() =>
      proxy.close(),
    );
    expect(stdout).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
  },
);

/**
 * Forwards a request with a credential, which the suite cannot send, as if it was sent to the gateway itself.
 * @param ownOrigin the origin of this proxy, which stands for the gateway's
 */
async function forward(request: IncomingMessage, response: ServerResponse, ownOrigin: string): Promise<void> {
  const { origin, accept = "", "content-type": type = "" } = request.headers;
  const baseUrl = inject("baseUrl");
  const hasBody = request.method === "POST";
  const answer = await fetch(`${baseUrl}${request.url}`, {
    method: request.method ?? "GET",
    headers: {
      Accept: accept,
      Authorization: `Bearer ${customer.token}`,
      ...(origin === undefined ? {} : { Origin: origin === ownOrigin ? baseUrl : origin }),
      ...(hasBody ? { "Content-Type": type } : {}),
    },
    ...(hasBody ? { body: await buffer(request) } : {}),
  });
  const { "content-encoding": _, "content-length": __, ...headers } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, headers).end(await answer.text());
}
