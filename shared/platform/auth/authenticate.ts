import * as z from "zod";

import { ApiError } from "../../contract/errors.ts";
import { allScopes, Scope, scopesOfRole } from "../../contract/scopes.ts";
import type { ProtectedRoute } from "../../routes/route.ts";
import type { EndpointMiddleware } from "../http/pipeline.ts";
import { countRequest, findRefusedCaller, tooManyRequests } from "../http/request-rate.ts";
import { sourceAddress } from "../http/source-address.ts";
import { keys } from "../table/keys.ts";
import { findItem } from "../table/table.ts";
import { isAddressIn } from "./address-blocks.ts";
import { hashApiKeySecret, isApiKeySecret } from "./api-key-secret.ts";
import { noteUse } from "./api-key-use.ts";
import { hasExpired } from "./expiry.ts";
import { RoleOfMember, roleOf } from "./role.ts";
import { verifySessionToken, type SessionClaims } from "./session-token.ts";
import { countUnknownCredential } from "./unknown-credentials.ts";

/** On whose behalf a request is made. */
export interface Actor {
  readonly organizationId: string;
  /** The user who logged in, or in the end stands behind the API key. */
  readonly userId: string;
  readonly credential:
    | { readonly type: "session"; readonly sessionId: string }
    | { readonly type: "apiKey"; readonly keyId: string };
  readonly scopes: readonly Scope[];
}

/** The item that an API key is looked up by; written by the accounts. */
export const CredentialRecord = z.object({
  entity: z.literal("credential"),
  keyId: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  /** What the key may do; everything where it was not limited. */
  scopes: z.array(Scope).optional(),
  validUntil: z.string().optional(),
  /** The addresses and CIDR blocks that it may be used from; any where there are none. */
  allowedAddresses: z.array(z.string()).optional(),
  disabledAt: z.string().optional(),
});
export type CredentialRecord = z.infer<typeof CredentialRecord>;

/**
 * The item of an organisation, as far as it says whether its calls are let in. Handlers get all of it, so that none of
 * them reads it once more; the accounts know what else is in it.
 */
const StoredOrganization = z.looseObject({
  entity: z.literal("organization"),
  ownerId: z.string().optional(),
  suspendedAt: z.string().optional(),
});
export type StoredOrganization = z.infer<typeof StoredOrganization>;

/** What the item of a user says of their sessions; the accounts know what else is in it. */
const SessionsOfUser = z.object({
  entity: z.literal("user"),
  organizationId: z.string(),
  /** ISO 8601: sessions that were issued before have ended. */
  sessionsValidFrom: z.string().optional(),
  /** Changes with the password. */
  passwordVersion: z.string().optional(),
  /** The one session of those that goes on, as `keptSession` names it. */
  keptSession: z.string().optional(),
  /** Sessions that were ended one by one. */
  endedSessionIds: z.set(z.string()).default(new Set()),
  removedAt: z.string().optional(),
});

interface Authenticated {
  readonly actor: Actor;
  readonly organization: StoredOrganization;
}

/**
 * Finds out on whose behalf a request is made, and whether its credential is enough for the route.
 * @throws ApiError UNAUTHORIZED, ADDRESS_NOT_ALLOWED, RATE_LIMITED, ORGANIZATION_SUSPENDED, INSUFFICIENT_SCOPE
 */
export function authentication(route: ProtectedRoute): EndpointMiddleware {
  return {
    before: async ({ event }) => {
      const { authorization = "" } = event.headers;
      const refused = findRefusedCaller(authorization);
      if (refused !== undefined) {
        event.actor = refused;
        throw tooManyRequests(refused.organizationId);
      }
      const { actor, organization } = await authenticate(authorization, sourceAddress(event));
      // The log says who was refused.
      event.actor = actor;
      event.organization = organization;
      await countRequest(actor, authorization);
      if (organization.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
      if (route.auth === "bearer") requireScope(actor, route.scope);
      else requireSession(actor);
    },
  };
}

/**
 * Resolves the Authorization header to an actor. Session tokens and API keys come on the same scheme, whose name counts in
 * any case of letters (RFC 9110, section 11.1). What ends a credential holds from the next request on, so all that is read
 * is read consistently and never kept.
 * @throws ApiError UNAUTHORIZED, ADDRESS_NOT_ALLOWED; RATE_LIMITED in the place of UNAUTHORIZED
 */
async function authenticate(authorization: string, address: string): Promise<Authenticated> {
  const credential = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (credential === undefined) throw unauthorized();
  const authenticated = credential.startsWith("nn_")
    ? await ofApiKey(credential, address)
    : await ofSession(credential);
  if (authenticated === "unknown") await countUnknownCredential(address);
  if (typeof authenticated === "string") throw unauthorized("invalid_token");
  return authenticated;
}

/** Why a credential is not good: it was never given out, or it has ended. */
type Refused = "ended" | "unknown";

/** @throws ApiError ADDRESS_NOT_ALLOWED */
async function ofApiKey(secret: string, address: string): Promise<Authenticated | Refused> {
  if (!isApiKeySecret(secret)) return "unknown";
  const key = keys.apiKey(hashApiKeySecret(secret));
  const record = await findItem(CredentialRecord, key, { consistent: true });
  if (record === undefined) return "unknown";
  if (record.disabledAt !== undefined || hasExpired(record)) return "ended";
  const { organizationId, userId, keyId, scopes = allScopes, allowedAddresses } = record;
  if (allowedAddresses !== undefined && !isAddressIn(address, allowedAddresses)) {
    throw new ApiError("ADDRESS_NOT_ALLOWED");
  }
  const [organization] = await Promise.all([
    findOrganization(organizationId),
    noteUse({ organizationId, keyId }),
  ]);
  if (organization === undefined) return "ended";
  return {
    actor: { organizationId, userId, credential: { type: "apiKey", keyId }, scopes },
    organization,
  };
}

async function ofSession(token: string): Promise<Authenticated | Refused> {
  const claims = await verifySessionToken(token);
  if (claims === undefined) return "unknown";
  if (claims === "expired") return "ended";
  const { organizationId, userId, sessionId } = claims;
  const [organization, user, membership] = await Promise.all([
    findOrganization(organizationId),
    findItem(SessionsOfUser, keys.user(userId), { consistent: true }),
    findItem(RoleOfMember, keys.member(organizationId, userId), { consistent: true }),
  ]);
  if (organization === undefined || user === undefined || !isOpen(claims, user)) return "ended";
  const role = roleOf(userId, membership, organization);
  if (role === undefined) return "ended";
  return {
    actor: {
      organizationId,
      userId,
      credential: { type: "session", sessionId },
      scopes: scopesOfRole[role],
    },
    organization,
  };
}

function isOpen(session: SessionClaims, user: z.infer<typeof SessionsOfUser>): boolean {
  const { sessionsValidFrom, keptSession, endedSessionIds, removedAt } = user;
  const isOfPassword = session.passwordVersion === user.passwordVersion;
  return (
    removedAt === undefined &&
    user.organizationId === session.organizationId &&
    !endedSessionIds.has(session.sessionId) &&
    (sessionsValidFrom === undefined
      ? isOfPassword
      : (isOfPassword && session.issuedAt.getTime() >= Date.parse(sessionsValidFrom)) ||
        keptSession === nameOfKeptSession(session.sessionId, sessionsValidFrom))
  );
}

/** What a user's record calls the session that goes on when those before a moment end: it ends when a later one counts. */
export function nameOfKeptSession(sessionId: string, sessionsValidFrom: string): string {
  return `${sessionId} ${sessionsValidFrom}`;
}

async function findOrganization(organizationId: string): Promise<StoredOrganization | undefined> {
  return findItem(StoredOrganization, keys.organization(organizationId), { consistent: true });
}

function requireSession({ credential }: Actor): void {
  if (credential.type === "session") return;
  throw insufficientScope({ message: "Only a person who is logged in may do this." });
}

function requireScope({ scopes }: Actor, scope: Scope): void {
  if (!scopes.includes(scope)) throw insufficientScope({ scope });
}

/** That a credential may not do something (RFC 6750, section 3.1), with the scope that it would need. */
export function insufficientScope({ scope, message }: { scope?: Scope; message?: string }): ApiError {
  const challenge = `Bearer error="insufficient_scope"${scope === undefined ? "" : `, scope="${scope}"`}`;
  return new ApiError("INSUFFICIENT_SCOPE", {
    ...(message === undefined ? {} : { message }),
    headers: { "WWW-Authenticate": challenge },
  });
}

/** RFC 6750 section 3: the challenge names an error only when a credential was presented. */
function unauthorized(error?: "invalid_token"): ApiError {
  const challenge = error === undefined ? "Bearer" : `Bearer error="${error}"`;
  return new ApiError("UNAUTHORIZED", { headers: { "WWW-Authenticate": challenge } });
}
