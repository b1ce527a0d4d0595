import * as z from "zod/mini";

import { ApiError } from "../../contract/errors.ts";
import { allScopes, Role, Scope, scopesOfRole } from "../../contract/scopes.ts";
import type { ProtectedRoute } from "../../routes/route.ts";
import type { EndpointMiddleware } from "../http/pipeline.ts";
import { countRequest, findRefusedCaller, tooManyRequests } from "../http/request-rate.ts";
import { bearerCredential } from "../http/response-headers.ts";
import { sourceAddress } from "../http/source-address.ts";
import { keys, type Key } from "../table/keys.ts";
import { findBoth, findItem } from "../table/table.ts";
import { isAddressIn } from "./address-blocks.ts";
import { hashApiKeySecret, isApiKeySecret } from "./api-key-secret.ts";
import { noteUse } from "./api-key-use.ts";
import { hasExpired } from "./expiry.ts";
import { verifySessionToken, type SessionClaims } from "./session-token.ts";
import { countUnknownCredential } from "./unknown-credentials.ts";

/** On whose behalf a request is made. */
export interface Actor {
  readonly organizationId: string;
  /** The user who logged in, or in the end stands behind the API key. */
  readonly userId: string;
  readonly credential:
    | {
        readonly type: "session";
        readonly sessionId: string;
        /** ISO 8601: when its user gave their password last, and a code where they have a second factor. */
        readonly provenAt?: string;
      }
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
  scopes: z.optional(z.array(Scope)),
  validUntil: z.optional(z.string()),
  /** The addresses and CIDR blocks that it may be used from; any where there are none. */
  allowedAddresses: z.optional(z.array(z.string())),
  disabledAt: z.optional(z.string()),
});
export type CredentialRecord = z.infer<typeof CredentialRecord>;

/**
 * The item of an organisation, as far as it says whether its calls are let in. Handlers get all of it, so that none of
 * them reads it once more; the accounts know what else is in it.
 */
const StoredOrganization = z.looseObject({
  entity: z.literal("organization"),
  suspendedAt: z.optional(z.string()),
});
export type StoredOrganization = z.infer<typeof StoredOrganization>;

/**
 * The role of a user in an organization. It is in the item of the membership, because only the functions that manage members
 * may write that one.
 */
export const RoleOfMember = z.object({ entity: z.literal("member"), role: Role });

/** What the item of a user says of their sessions; the accounts know what else is in it. */
const SessionsOfUser = z.object({
  entity: z.literal("user"),
  organizationId: z.string(),
  /** ISO 8601: sessions that were issued before have ended. */
  sessionsValidFrom: z.optional(z.string()),
  /** The session whose user has given their password once more, and when. */
  reauthenticated: z.optional(z.object({ sessionId: z.string(), at: z.string() })),
  /** Changes with the password. */
  passwordVersion: z.optional(z.string()),
  /** The one session of those that goes on, as `keptSession` names it. */
  keptSession: z.optional(z.string()),
  /** Sessions that were ended one by one. */
  endedSessionIds: z._default(z.set(z.string()), new Set()),
  removedAt: z.optional(z.string()),
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
      const { actor, organization } = await authenticate(event.headers, sourceAddress(event));
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
 * is read consistently and never kept, but for whose an API key is.
 * @throws ApiError UNAUTHORIZED, ADDRESS_NOT_ALLOWED; RATE_LIMITED in the place of UNAUTHORIZED
 */
async function authenticate(
  headers: Readonly<Record<string, string | undefined>>,
  address: string,
): Promise<Authenticated> {
  const credential = bearerCredential(headers["authorization"]);
  if (credential === undefined) {
    const message = `${whatIsMissing(headers)} Send \`Authorization: Bearer <token or API key>\`.`;
    throw new ApiError("UNAUTHORIZED", { message });
  }
  const authenticated = credential.startsWith("nn_")
    ? await ofApiKey(credential, address)
    : await ofSession(credential);
  if (typeof authenticated !== "string") return authenticated;
  if (authenticated !== "ended" && authenticated !== "expired") await countUnknownCredential(address);
  throw new ApiError("UNAUTHORIZED", { message: refusals[authenticated] });
}

/** Why a credential is not good: its form is wrong, it was never given out, it has ended, or its session has run out. */
type Refused = keyof typeof refusals;

/** Whether somebody has a credential, or had it once, is not for others to know: both have the same sentence. */
const notValid =
  "This credential is not valid: it does not exist, was disabled, or has ended. Check that all of it was copied, or make a new one.";
const refusals = {
  malformed:
    "This is neither a session token nor an API key. A session token is the `token` of a registration or a login; an API key begins with `nn_` and has 41 characters.",
  expired: "This session has expired. Log in again for a new token.",
  ended: notValid,
  unknown: notValid,
} as const;

/** Headers in which other APIs take their keys. */
const otherHeaders = ["x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token"];

/** What is wrong with a request that presents no credential in the way that is asked for. */
function whatIsMissing(headers: Readonly<Record<string, string | undefined>>): string {
  const { authorization = "" } = headers;
  if (authorization.trim() === "") {
    const other = otherHeaders.find((name) => headers[name] !== undefined);
    return other === undefined
      ? "The header Authorization is missing or empty."
      : `The header ${other} is not read.`;
  }
  if (!/^Bearer( |$)/i.test(authorization)) return "The header Authorization does not begin with `Bearer`.";
  if (/^Bearer *$/i.test(authorization)) return "There is no credential after `Bearer`.";
  return "What follows `Bearer` is no single credential: it has a space in it.";
}

/** @throws ApiError ADDRESS_NOT_ALLOWED */
async function ofApiKey(secret: string, address: string): Promise<Authenticated | Refused> {
  if (!isApiKeySecret(secret)) return "malformed";
  const key = keys.apiKey(hashApiKeySecret(secret));
  const { record, organization: known } = await readApiKey(key);
  if (record === undefined) return "unknown";
  if (record.disabledAt !== undefined || hasExpired(record)) return "ended";
  const { organizationId, userId, keyId, scopes = allScopes, allowedAddresses } = record;
  if (allowedAddresses !== undefined && !isAddressIn(address, allowedAddresses)) {
    throw new ApiError("ADDRESS_NOT_ALLOWED");
  }
  const [organization] = await Promise.all([
    known ?? findOrganization(organizationId),
    noteUse({ organizationId, keyId }),
  ]);
  if (organization === undefined) return "ended";
  rememberOrganization(key, organizationId);
  return {
    actor: { organizationId, userId, credential: { type: "apiKey", keyId }, scopes },
    organization,
  };
}

/** Keys whose organizations this function remembers. */
const maxRememberedKeys = 10_000;

/** The organizations of API keys that were let in, by the hash of the key. */
const organizationIdsOfKeys = new Map<string, string>();

function rememberOrganization({ pk }: Key, organizationId: string): void {
  if (organizationIdsOfKeys.size >= maxRememberedKeys) organizationIdsOfKeys.clear();
  organizationIdsOfKeys.set(pk, organizationId);
}

/**
 * Reads an API key, and its organization in the same request where that is known. Only whose key it is, which never
 * changes, is remembered: both items are read as they are now, so that a disabled key and a suspension hold at once.
 */
async function readApiKey(key: Key): Promise<{
  readonly record: CredentialRecord | undefined;
  readonly organization?: StoredOrganization | undefined;
}> {
  const organizationId = organizationIdsOfKeys.get(key.pk);
  if (organizationId === undefined) {
    return { record: await findItem(CredentialRecord, key, { consistent: true }) };
  }
  const [record, organization] = await findBoth(
    { schema: CredentialRecord, key },
    { schema: StoredOrganization, key: keys.organization(organizationId) },
  );
  if (record?.organizationId === organizationId) return { record, organization };
  organizationIdsOfKeys.delete(key.pk);
  return { record };
}

async function ofSession(token: string): Promise<Authenticated | Refused> {
  const claims = await verifySessionToken(token);
  if (claims === undefined) return isSessionToken(token) ? "unknown" : "malformed";
  if (claims === "expired") return "expired";
  const { organizationId, userId, sessionId } = claims;
  const [organization, user, membership] = await Promise.all([
    findOrganization(organizationId),
    findItem(SessionsOfUser, keys.user(userId), { consistent: true }),
    findItem(RoleOfMember, keys.member(organizationId, userId), { consistent: true }),
  ]);
  if (organization === undefined || user === undefined || membership === undefined) return "ended";
  if (!isOpen(claims, user)) return "ended";
  return {
    actor: {
      organizationId,
      userId,
      credential: { type: "session", sessionId, provenAt: provenAt(claims, user) },
      scopes: scopesOfRole[membership.role],
    },
    organization,
  };
}

/** Whether a string has the form of a session token; its signature is not checked. */
function isSessionToken(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
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

function provenAt(
  { sessionId, issuedAt }: SessionClaims,
  { reauthenticated }: z.infer<typeof SessionsOfUser>,
): string {
  return reauthenticated?.sessionId === sessionId ? reauthenticated.at : issuedAt.toISOString();
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
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only a person who is logged in may do this." });
}

function requireScope({ scopes }: Actor, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new ApiError("INSUFFICIENT_SCOPE", {
    requiredScope: scope,
    message: `This takes the scope \`${scope}\`, which this credential has not.`,
  });
}
