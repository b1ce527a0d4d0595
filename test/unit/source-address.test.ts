import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { afterEach, expect, it, vi } from "vitest";

import { environmentNames } from "../../shared/platform/config.ts";
import { sourceAddress } from "../../shared/platform/http/source-address.ts";

afterEach(() => vi.unstubAllEnvs());

function requestFrom(sourceIp: string, headers: Record<string, string>): APIGatewayProxyEventV2 {
  // What a request has beside these makes no difference here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { headers, requestContext: { http: { sourceIp } } } as unknown as APIGatewayProxyEventV2;
}

it("without a firewall is the address that the API was called from, whatever a caller writes about itself", () => {
  const headers = { "x-viewer-address": "203.0.113.9", "x-forwarded-for": "203.0.113.9" };
  expect(sourceAddress(requestFrom("198.51.100.7", headers))).toBe("198.51.100.7");
});

it("behind the firewall is the address that CloudFront was called from", () => {
  vi.stubEnv(environmentNames.behindFirewall, "true");
  const headers = { "x-viewer-address": "203.0.113.9", "x-forwarded-for": "192.0.2.1" };
  expect(sourceAddress(requestFrom("198.51.100.7", headers))).toBe("203.0.113.9");
});
