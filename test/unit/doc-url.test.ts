import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import { afterEach, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import * as routes from "../../shared/api/routes/health.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { pipeline } from "../../shared/platform/http/pipeline.ts";

afterEach(() => vi.unstubAllEnvs());

/** Returns the body of an error of an endpoint. */
async function bodyOfError(): Promise<unknown> {
  const http = { method: "GET", path: "/health", sourceIp: "198.51.100.7" };
  // Other fields of requests and contexts are ignored.
  /* oxlint-disable typescript/no-unsafe-type-assertion */
  const event = {
    headers: {},
    requestContext: { http, requestId: "1" },
  } as unknown as APIGatewayProxyEventV2;
  const context = {} as Context;
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  const handler = pipeline(routes.getHealth, [], async () => {
    throw new ApiError("CONFLICT");
  });
  return JSON.parse((await handler(event, context)).body ?? "");
}

it("an error links to its page where the stage serves documentation", async () => {
  vi.stubEnv(environmentNames.docsEnabled, "true");
  vi.stubEnv(environmentNames.apiUrl, "https://sms.example.com");
  expect(await bodyOfError()).toMatchObject({
    error: { code: "CONFLICT", docUrl: "https://sms.example.com/docs/errors/CONFLICT" },
  });
});

it("an error has no link on a stage without documentation", async () => {
  vi.stubEnv(environmentNames.docsEnabled, "false");
  const message = "The request conflicts with the current state of the resource.";
  expect(await bodyOfError()).toEqual({ error: { code: "CONFLICT", message, requestId: "1" } });
});
