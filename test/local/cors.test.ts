import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { GatewayStack } from "../../infra/stack/gateway-stack.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { call, Customer } from "../support/api.ts";
import { testApp } from "../support/test-app.ts";

const origin = "https://app.example.com";

const running: LocalGateway[] = [];
afterAll(async () => {
  for (const gateway of running) await gateway.stop();
});

async function startWith(corsOrigins: string[]): Promise<LocalGateway> {
  const stackName = `test-cors-${running.length}`;
  const assemblyFolder = `.build/${stackName}.out`;
  const app = testApp(assemblyFolder);
  new GatewayStack(app, stackName, { ...stageNamed("local"), corsOrigins });
  app.synth();
  const gateway = await startLocalGateway({
    assemblyFolder,
    stackName,
    port: 0,
    log: () => undefined,
    runsSchedules: false,
  });
  running.push(gateway);
  return gateway;
}

/** The headers of a response that a browser checks. */
function corsHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));
}

async function preflight(baseUrl: string, from: string): Promise<Response> {
  return fetch(`${baseUrl}/v1/sms/send`, {
    method: "OPTIONS",
    headers: {
      Origin: from,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    },
  });
}

describe("a stage with origins", () => {
  let gateway: LocalGateway;
  let customer: Customer;
  beforeAll(async () => {
    gateway = await startWith(["https://other.example.com", origin]);
    customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  });

  it("responds to their preflight requests without calling a function", async () => {
    const response = await preflight(gateway.url, origin);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(response.headers.get("x-request-id")).toBeNull();
    const { "access-control-allow-methods": methods = "", ...headers } = corsHeaders(response.headers);
    expect(methods.split(",").toSorted()).toEqual(["DELETE", "GET", "PATCH", "POST", "PUT"]);
    expect(headers).toEqual({
      "access-control-allow-origin": origin,
      "access-control-allow-headers": "Authorization,Content-Type,Idempotency-Key",
      "access-control-max-age": "86400",
    });
  });

  it("lets their pages read responses with their headers, also those of errors", async () => {
    const read = {
      "access-control-allow-origin": origin,
      "access-control-expose-headers":
        "Allow,Idempotency-Key-Ignored,Idempotent-Replayed,RateLimit,RateLimit-Policy,Retry-After,WWW-Authenticate,X-Request-Id",
    };
    const headers = { Origin: origin };
    const sent = await customer.call("/v1/wallet", { headers });
    expect([sent.status, corsHeaders(sent.headers)]).toEqual([200, read]);
    const rejected = await call("/v1/wallet", { headers, baseUrl: gateway.url });
    expect([rejected.status, corsHeaders(rejected.headers)]).toEqual([401, read]);
  });

  it("rejects other pages, and adds no headers for programs", async () => {
    const rejected = await preflight(gateway.url, "https://app.example.com.evil.example");
    expect([rejected.status, corsHeaders(rejected.headers)]).toEqual([403, {}]);
    const elsewhere = await fetch(`${gateway.url}/console`, { headers: { Origin: "https://evil.example" } });
    expect([elsewhere.status, corsHeaders(elsewhere.headers)]).toEqual([403, {}]);
    expect(corsHeaders((await customer.call("/v1/wallet")).headers)).toEqual({});
  });

  it("handles an OPTIONS without a requested method like any other request", async () => {
    const response = await fetch(`${gateway.url}/v1/sms/send`, {
      method: "OPTIONS",
      headers: { Origin: origin },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get("x-request-id")).not.toBeNull();
  });
});

it("a stage with the origin * lets every page call", async () => {
  const { url } = await startWith(["*"]);
  const response = await preflight(url, origin);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
});

const besides = [
  "http://localhost:5173",
  "http://127.0.0.1:8080",
  "http://[::1]:5173",
  "http://shop.localhost",
];

it.each(besides)("a page of this machine on %s may call any stage", async (beside) => {
  const { url } = running[0] ?? (await startWith([origin]));
  for (const baseUrl of [inject("baseUrl"), url]) {
    const asked = await preflight(baseUrl, beside);
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, beside]);
    expect(asked.headers.get("access-control-allow-methods")?.split(",")).toContain("POST");
    const read = await call("/v1/wallet", { headers: { Origin: beside }, baseUrl });
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([401, beside]);
    expect(read.headers.get("access-control-expose-headers")).toContain("X-Request-Id");
  }
});

it("a stage without origins lets no other page call", async () => {
  const response = await preflight(inject("baseUrl"), origin);
  expect([response.status, corsHeaders(response.headers)]).toEqual([403, {}]);
});
