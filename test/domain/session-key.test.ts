import { once } from "node:events";
import { createServer } from "node:http";

import { expect, it, vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { hastenTimers } from "../support/hastened-timers.ts";

it("a session key that does not arrive is abandoned while the caller still waits", async () => {
  // A KMS that accepts each request and never responds.
  const kms = createServer(() => undefined);
  vi.stubEnv("AWS_ENDPOINT_URL_KMS", `http://127.0.0.1:${await listenOnLoopback(kms)}`);
  vi.stubEnv(environmentNames.sessionKeyId, "session-key");
  const { verifySessionToken } = await import("../../shared/platform/auth/session-token.ts");
  hastenTimers();
  await expect(verifySessionToken(`${btoa('{"kid":"session-key"}')}.b.c`)).rejects.toMatchObject({
    name: "TimeoutError",
  });
  kms.closeAllConnections();
  kms.close();
  await once(kms, "close");
});
