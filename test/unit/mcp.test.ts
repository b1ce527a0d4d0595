import { createServer, type RequestListener } from "node:http";

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { mcpTools, type Tool } from "../../shared/api/openapi/tools.ts";
import { operations } from "../../shared/api/routes.ts";
import { callTool } from "../../shared/pages/mcp/call-tool.ts";
import { environmentNames } from "../../shared/platform/config.ts";

const tools = mcpTools();

/**
 * The keywords that each API documents for the arguments of tools, without those of objects:
 * https://ai.google.dev/api/caching#Schema, https://platform.openai.com/docs/guides/structured-outputs#supported-schemas and
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
const keywordsOfTools = {
  gemini:
    "type format title description nullable enum maxItems minItems minLength maxLength pattern example anyOf default items minimum maximum",
  openAiStrict:
    "type description enum const anyOf items pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems $ref $defs",
  claudeStrict: "type description enum const anyOf allOf $ref $defs default format items",
};

/** Returns a schema and all within it. */
function nodesOf(schema: z.core.JSONSchema.JSONSchema): z.core.JSONSchema.JSONSchema[] {
  const { properties = {}, anyOf = [], items } = schema;
  const within = [...Object.values(properties), ...anyOf, items].flat();
  return [schema, ...within.flatMap((each) => (typeof each === "object" ? nodesOf(each) : []))];
}

function tool(name: string): Tool {
  const found = tools.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
}

describe("the tools", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });

  it("are the operations that customers call with API keys, without those that return a secret", () => {
    const names = operations().flatMap(([name, { scope, raw, data }]) =>
      scope !== undefined &&
      raw === undefined &&
      !/"(secret|token)":/.test(JSON.stringify(z.toJSONSchema(data)))
        ? [name]
        : [],
    );
    expect(tools.map(({ name }) => name)).toEqual(names);
    expect(names.length).toBeGreaterThan(60);
  });

  it.each(tools)("$name has a schema that the APIs of large models accept", ({ inputSchema, path }) => {
    expect(() => ajv.compile(inputSchema)).not.toThrow();
    expect(inputSchema).not.toHaveProperty("anyOf");
    for (const { properties = {}, required = [], ...node } of nodesOf(inputSchema)) {
      for (const keywords of Object.values(keywordsOfTools))
        expect(keywords.split(" ")).toEqual(expect.arrayContaining(Object.keys(node)));
      expect(node.anyOf === undefined || Object.keys(node).length === 1).toBe(true);
      expect(node.enum?.every((value) => typeof value === "string") ?? true).toBe(true);
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
    }
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(inputSchema.required).toEqual(expect.arrayContaining(named));
  });

  it("accept the examples of the contract", () => {
    const { inputSchema } = tool("createCampaign");
    expect(inputSchema.properties).toHaveProperty("idempotencyKey");
    expect(ajv.validate(tool("sendSms").inputSchema, { to: "15005550000", message: "hello" })).toBe(true);
    expect(ajv.validate(tool("sendSms").inputSchema, { to: "15005550000" })).toBe(false);
  });

  it.each([
    ["getSms", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ["estimateSms", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ["sendSms", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ["createContact", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ["updateContact", { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ["testWebhook", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ["importContacts", { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ["disableApiKey", { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ])("%s has the hints %j", (name, hints) => {
    expect(tool(name).annotations).toEqual(hints);
  });
});

describe("a call of a tool", () => {
  const servers: (() => void)[] = [];
  afterEach(() => {
    for (const stop of servers.splice(0)) stop();
  });

  /** Starts an API with one response. */
  async function api(respond: RequestListener): Promise<void> {
    const server = createServer(respond);
    process.env[environmentNames.apiUrl] = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    servers.push(() => {
      server.closeAllConnections();
      server.close();
    });
  }

  it("explains why a key with allowed addresses cannot be used", async () => {
    await api((_request, response) => {
      const error = { code: "ADDRESS_NOT_ALLOWED", message: "Not from here.", requestId: "r" };
      response.writeHead(403).end(JSON.stringify({ error }));
    });
    const result = await callTool(tool("getWallet"), {}, "Bearer nn_x");
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain("cannot be used over MCP");
  });

  it("names the key for a repetition when the response is lost", async () => {
    const keys: unknown[] = [];
    await api((request, response) => {
      keys.push(request.headers["idempotency-key"]);
      response.destroy();
    });
    const result = await callTool(tool("sendSms"), { to: "15005550000", message: "x" }, "Bearer nn_x");
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{36}$/)]);
    expect(JSON.stringify(result.content)).toContain(`with the idempotencyKey ${String(keys[0])}`);
  });

  const deep: unknown = JSON.parse("[".repeat(25_000) + "]".repeat(25_000));
  it.each([
    ["sendSms", { to: "1", message: "x", idempotencyKey: "a\r\nX-Evil: y" }, "idempotencyKey must be"],
    ["sendSms", { to: "1", message: "x", idempotencyKey: 7 }, "idempotencyKey must be"],
    ["sendSms", { to: deep }, "nested too deeply"],
    ["listSms", { to: deep }, "to must be a text"],
    ["listSms", { to: { number: "1" } }, "to must be a text"],
    ["getSms", { id: "\ud800" }, "not Unicode"],
  ])("rejects arguments of %s that cannot be sent, and logs none of them", async (name, values, expected) => {
    const write = vi.spyOn(process.stdout, "write");
    await api((_request, response) => response.end("{}"));
    const result = await callTool(tool(name), values, "Bearer nn_x");
    expect(JSON.stringify(result)).toMatch(new RegExp(`VALIDATION_ERROR: .*${expected}`));
    expect(write).not.toHaveBeenCalled();
    write.mockRestore();
  });

  it("leaves out an argument of a query that is null", async () => {
    await api(({ url }, response) => response.end(JSON.stringify({ url })));
    const values = { search: null, limit: 5, idempotencyKey: null };
    const result = await callTool(tool("listContacts"), values, "Bearer nn_x");
    expect(result.structuredContent).toEqual({ url: "/v1/contacts?limit=5" });
  });

  it("states that a change was made whose result does not fit", async () => {
    await api((_request, response) => response.end(JSON.stringify({ data: "x".repeat(200_000) })));
    const result = await callTool(tool("sendSms"), { to: "15005550000", message: "x" }, "Bearer nn_x");
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain("The change was made. The result is too large.");
  });

  it.each([
    ["a result that is too large", 200, "x".repeat(300_000), "The result is too large"],
    [
      "an error without a body of the API",
      502,
      "Bad Gateway",
      "UNAVAILABLE: the gateway responded with 502.",
    ],
  ])("reports %s", async (_name, status, body, expected) => {
    await api((_request, response) => response.writeHead(status).end(body));
    const result = await callTool(tool("listSms"), {}, "Bearer nn_x");
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(expected);
  });
});
