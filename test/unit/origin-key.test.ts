import type { APIGatewayRequestAuthorizerEventV2 } from "aws-lambda";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { handler } from "../../functions/firewall/check-origin.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { startHttpServer } from "../support/http-server.ts";

const key = "k".repeat(64);

// A Secrets Manager of a few lines, that holds the one secret.
const secrets = await startHttpServer((_, response) => response.end(JSON.stringify({ SecretString: key })));

beforeAll(() => {
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", secrets.url);
  vi.stubEnv(environmentNames.originKeySecretId, "origin-key");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await secrets.stop();
});

it.each([
  ["the key", [key], true],
  ["another key", ["x".repeat(64)], false],
  ["the key and more", [`${key}k`], false],
  ["no key", [], false],
])("a request with %s is decided correctly", async (_, identitySource, isAuthorized) => {
  // API Gateway sends more fields, which are ignored.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const event = { identitySource } as unknown as APIGatewayRequestAuthorizerEventV2;
  expect(await handler(event)).toEqual({ isAuthorized });
});
