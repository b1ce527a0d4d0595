import * as z from "zod";

import { ApiError } from "../../contract/errors.ts";
import type { ProtectedRoute } from "../../routes/route.ts";
import type { EndpointMiddleware } from "../http/pipeline.ts";
import { keys } from "../table/keys.ts";
import { findItem } from "../table/table.ts";
import { hashApiKeySecret, isApiKeySecret } from "./api-key-secret.ts";
import { verifySessionToken, type SessionClaims } from "./session-token.ts";

/** On whose behalf a request is made. */
export interface Actor {
  readonly organizationId: string;
  /** The user who logged in, or who created the API key. */
  readonly userId: string;
  readonly credential:
    | { readonly type: "session"; readonly sessionId: string }
    | { readonly type: "apiKey"; readonly keyId: string };
}

/** The item that an API key is looked up by; written by the accounts. */
export const CredentialRecord = z.object({
  entity: z.literal("credential"),
  keyId: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  disabledAt: z.string().optional(),
});

/** What the item of a user says of their sessions; the accounts know what else is in it. */
const SessionsOfUser = z.object({
  entity: z.literal("user"),
  sessionsValidFrom: z.string().optional(),
  endedSessionIds: z.set(z.string()).default(new Set()),
});

/**
 * Finds out on whose behalf a request is made, and whether its credential is enough for the route.
 * @throws ApiError UNAUTHORIZED, INSUFFICIENT_SCOPE
 */
export function authentication(route: ProtectedRoute): EndpointMiddleware {
  return {
    before: async ({ event }) => {
      event.actor = await authenticate(event.headers["authorization"]);
      if (route.auth === "session" && event.actor.credential.type !== "session") {
        throw new ApiError("INSUFFICIENT_SCOPE");
      }
    },
  };
}

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
    : await actorOfSession(credential);
  if (actor === undefined) throw unauthorized("invalid_token");
  return actor;
}

async function actorOfApiKey(secret: string): Promise<Actor | undefined> {
  if (!isApiKeySecret(secret)) return undefined;
  const record = await findItem(CredentialRecord, keys.apiKey(hashApiKeySecret(secret)), {
    consistent: true,
  });
  if (record === undefined || record.disabledAt !== undefined) return undefined;
  const { organizationId, userId, keyId } = record;
  return { organizationId, userId, credential: { type: "apiKey", keyId } };
}

async function actorOfSession(token: string): Promise<Actor | undefined> {
  const claims = await verifySessionToken(token);
  if (claims === undefined) return undefined;
  const { organizationId, userId, sessionId } = claims;
  const user = await findItem(SessionsOfUser, keys.user(userId), { consistent: true });
  if (user === undefined || !isOpen(claims, user)) return undefined;
  return { organizationId, userId, credential: { type: "session", sessionId } };
}

function isOpen(
  { sessionId, issuedAt }: SessionClaims,
  { sessionsValidFrom, endedSessionIds }: z.infer<typeof SessionsOfUser>,
): boolean {
  if (endedSessionIds.has(sessionId)) return false;
  return sessionsValidFrom === undefined || issuedAt.getTime() >= Date.parse(sessionsValidFrom);
}

/** RFC 6750 section 3: the challenge names an error only when a credential was presented. */
function unauthorized(error?: "invalid_token"): ApiError {
  const challenge = error === undefined ? "Bearer" : `Bearer error="${error}"`;
  return new ApiError("UNAUTHORIZED", { headers: { "WWW-Authenticate": challenge } });
}
