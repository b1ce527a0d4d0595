import { afterEach, expect, it } from "vitest";

import { MessageRecord } from "../../shared/messages/message/record.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { newId } from "../../shared/platform/ids.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { takeJobs } from "../support/queues.ts";
import { openWallet } from "../support/wallets.ts";

afterEach(async () => takeJobs("transactionalSends"));

it.each([
  { credential: { type: "apiKey", keyId: "key_1" }, apiKeyId: "key_1" },
  { credential: { type: "session", sessionId: "ses_1" }, apiKeyId: undefined },
] as const)("a message has the API key that sent it: $apiKeyId", async ({ credential, apiKeyId }) => {
  const organizationId = await openWallet(1_000_000);
  const actor: Actor = { organizationId, userId: newId("usr"), credential, scopes: ["send"] };
  const request = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;
  const { id } = await acceptMessage(organizationId, request, { actor });
  const message = await findItem(MessageRecord, messageKey({ organizationId, id }), { consistent: true });
  expect(message?.apiKeyId).toBe(apiKeyId);
});
