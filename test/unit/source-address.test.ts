import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import { afterEach, expect, it, vi } from "vitest";

import * as routes from "../../shared/api/routes/health.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { pipeline } from "../../shared/platform/http/pipeline.ts";

afterEach(() => vi.unstubAllEnvs());

/** Returns the source address of a request as an endpoint sees it. */
async function sourceOf(calledFrom: string, headers: Record<string, string>): Promise<string> {
  const http = { method: "GET", path: "/health", sourceIp: calledFrom };
  // Other fields of requests and contexts are ignored.
  /* oxlint-disable typescript/no-unsafe-type-assertion */
  const event = { headers, requestContext: { http } } as unknown as APIGatewayProxyEventV2;
  const context = {} as Context;
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  let source = "";
  const handler = pipeline(routes.getHealth, [], async (call) => {
    source = call.sourceIp;
    return { status: "ok" as const, version: "1" };
  });
  await handler(event, context);
  return source;
}

it("without a firewall is the address that called the API, whatever a caller writes about itself", async () => {
  const headers = { "x-viewer-address": "203.0.113.9", "x-forwarded-for": "203.0.113.9" };
  expect(await sourceOf("198.51.100.7", headers)).toBe("198.51.100.7");
});

it("behind the firewall is the address that called CloudFront", async () => {
  vi.stubEnv(environmentNames.behindFirewall, "true");
  const headers = { "x-viewer-address": "203.0.113.9", "x-forwarded-for": "192.0.2.1" };
  expect(await sourceOf("198.51.100.7", headers)).toBe("203.0.113.9");
});
