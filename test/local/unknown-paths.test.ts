import { expect, inject, it, vi } from "vitest";

import { shapeOf } from "../../shared/api/routes.ts";
import { call, errorOf } from "../support/api.ts";
import { Faults } from "../support/faults.ts";
import { startOwnGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

it.each([
  ["PUT", "/v1/sms/send", "PUT /v1/sms/send"],
  ["GET", "/v1/sms/sned", "GET /v1/sms/{}"],
  ["GET", "/v1/opt-outs/+447700900123/history", "GET /v1/opt-outs/{}/{}"],
  ["GET", "/v1/sms/{id}/x", "GET /v1/sms/{}/{}"],
  ["GET", "/", "GET /"],
  ["GET", "//v1//", "GET //v1//"],
  ["GET", `/${"sms/".repeat(5_000)}`, "GET /sms/sms/sms/sms/sms/sms/…"],
  ["nn_secret", "/nn_secret/__proto__/constructor", "OTHER /{}/{}/{}"],
])("%s %s is logged as %s", (method, path, shape) => {
  expect(shapeOf(method, path)).toBe(shape);
});

it("the log names a request without a route by the known parts of its path only", async () => {
  const lines: string[] = [];
  const gateway = await startOwnGateway(new Faults(), (line) => lines.push(line));
  try {
    await fetch(`${gateway.url}/v1/sms/447700900123/nn_0123456789`, { method: "PUT" });
    await fetch(`${gateway.url}/v1/sms/send`);
    await vi.waitFor(() => {
      expect(lines.join("\n")).toContain('"route":"PUT /v1/sms/{}/{}","status":404');
      expect(lines.join("\n")).toContain('"route":"GET /v1/sms/send","status":405');
    }, patience);
    expect(lines.join("\n")).not.toMatch(/447700900123|nn_0123456789/);
  } finally {
    await gateway.stop();
  }
});

// API Gateway distinguishes these paths, as this gateway does. An emulator of it serves the page there instead.
it.each(["/docs/", "/console/", "/docs/guides/errors/"])(
  "a browser at %s comes to the page",
  async (path) => {
    const page = await fetch(inject("baseUrl") + path, { headers: { Accept: "text/html" } });
    expect([page.status, new URL(page.url).pathname]).toEqual([200, path.slice(0, -1)]);
  },
);

it("a program at /docs/ gets an error", async () => {
  expect(errorOf(await call("/docs/"))).toEqual({ status: 404, code: "NOT_FOUND" });
});
