import * as z from "zod";

import { ApiError } from "../../contract/errors.ts";
import type { EndpointMiddleware } from "../http/pipeline.ts";
import { keys } from "../table/keys.ts";
import { findItem } from "../table/table.ts";
import { hashApiKeySecret, isApiKeySecret } from "./api-key-secret.ts";
import { verifySessionToken } from "./session-token.ts";

/** On whose behalf a request is made. */
export interface Actor {
  readonly organizationId: string;
  /** The user who logged in, or who created the API key. */
  readonly userId: string;
}

/** The item that an API key is looked up by; written by the accounts. */
export const CredentialRecord = z.object({
  entity: z.literal("credential"),
  keyId: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  disabledAt: z.string().optional(),
});

/**
 * Finds out on whose behalf a request is made.
 * @throws ApiError UNAUTHORIZED
 */
export const authentication: EndpointMiddleware = {
  before: async ({ event }) => {
    event.actor = await authenticate(event.headers["authorization"]);
  },
};

/**
 * Resolves the Authorization header to an actor. Session tokens and API keys come on the same scheme. A
 * disabled key is refused from the next request on, so the lookup is consistent and never cached.
 * @throws ApiError UNAUTHORIZED
 */
async function authenticate(authorization: string | undefined): Promise<Actor> {
  const credential = /^Bearer (\S+)$/.exec(authorization ?? "")?.[1];
  if (credential === undefined) throw unauthorized();
  const actor = credential.startsWith("nn_")
    ? await actorOfApiKey(credential)
    : await verifySessionToken(credential);
  if (actor === undefined) throw unauthorized("invalid_token");
  return actor;
}

async function actorOfApiKey(secret: string): Promise<Actor | undefined> {
  if (!isApiKeySecret(secret)) return undefined;
  const record = await findItem(CredentialRecord, keys.apiKey(hashApiKeySecret(secret)), {
    consistent: true,
  });
  if (record === undefined || record.disabledAt !== undefined) return undefined;
  return { organizationId: record.organizationId, userId: record.userId };
}

/** RFC 6750 section 3: the challenge names an error only when a credential was presented. */
function unauthorized(error?: "invalid_token"): ApiError {
  const challenge = error === undefined ? "Bearer" : `Bearer error="${error}"`;
  return new ApiError("UNAUTHORIZED", { headers: { "WWW-Authenticate": challenge } });
}
