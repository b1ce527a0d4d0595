import { expect, it } from "vitest";

import type { Actor } from "../../shared/platform/auth/actor.ts";
import { newId } from "../../shared/platform/ids.ts";
import { acceptFor, recordOf } from "../support/messages.ts";
import { openWallet } from "../support/wallets.ts";

it.each([
  { credential: { type: "apiKey", keyId: "key_1" }, apiKeyId: "key_1" },
  { credential: { type: "session", sessionId: "ses_1" }, apiKeyId: undefined },
] as const)("a message has the API key that sent it: $apiKeyId", async ({ credential, apiKeyId }) => {
  const organizationId = await openWallet(1_000_000);
  const actor: Actor = { organizationId, userId: newId("usr"), credential, scopes: ["send"] };
  const message = await recordOf(await acceptFor(organizationId, {}, { actor }));
  expect(message.apiKeyId).toBe(apiKeyId);
});
