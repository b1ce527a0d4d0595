import { ApiError } from "../../api/contract/errors.ts";
import { defaultScopes } from "../../api/contract/scopes.ts";
import { isAddressIn } from "../../platform/auth/address-blocks.ts";
import { hashApiKeySecret, isApiKeySecret } from "../../platform/auth/api-key-secret.ts";
import { noteUse } from "../../platform/auth/api-key-use.ts";
import { hasExpired } from "../../platform/auth/expiry.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { secondMs } from "../../platform/clock.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findBoth, findItem } from "../../platform/table/read.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import { CredentialRecord } from "../../tenancy/api-keys/record.ts";
import { findOrganization, OrganizationRecord } from "../../tenancy/organizations/record.ts";
import type { Caller, Rejected } from "./authenticate.ts";

/**
 * Returns the caller of an API key.
 * @param mayLag whether its organization may be as it was about a second ago
 * @throws ApiError ADDRESS_NOT_ALLOWED
 */
export async function callerOfApiKey(
  secret: string,
  address: string,
  mayLag: boolean,
): Promise<Caller | Rejected> {
  if (!isApiKeySecret(secret)) return "malformed";
  const read = await readApiKey(secret, mayLag);
  return read.record === undefined ? "unknown" : callerOfRecord(read.record, address, read);
}

/**
 * Returns the caller of an API key that exists.
 * @throws ApiError ADDRESS_NOT_ALLOWED
 */
export async function callerOfRecord(
  record: CredentialRecord,
  address: string,
  { key, organization: known }: Pick<ReadApiKey, "key" | "organization">,
): Promise<Caller | Rejected> {
  if (record.disabledAt !== undefined || hasExpired(record)) return "ended";
  const {
    organizationId,
    userId,
    keyId,
    scopes = defaultScopes,
    allowedAddresses,
    test,
    sendLimits,
  } = record;
  if (allowedAddresses !== undefined && !isAddressIn(address, allowedAddresses)) {
    throw new ApiError("ADDRESS_NOT_ALLOWED");
  }
  const [organization] = await Promise.all([
    known ?? findOrganization(organizationId, { consistent: true }),
    noteUse({ organizationId, keyId }),
  ]);
  if (organization === undefined) return "ended";
  organizationIdsOfKeys.set(key.pk, organizationId);
  return {
    actor: {
      organizationId,
      userId,
      credential: {
        type: "apiKey",
        keyId,
        ...(test && { test }),
        ...(sendLimits && { limits: { ...sendLimits, budgetKeyId: sendLimits.budgetKeyId ?? keyId } }),
      },
      scopes,
    },
    organization,
  };
}

interface ReadApiKey {
  readonly key: Key<"apiKey">;
  readonly record: CredentialRecord | undefined;
  readonly organization?: OrganizationRecord | undefined;
}

/** The organizations of accepted API keys, by the hash of the key. */
const organizationIdsOfKeys = new BoundedMap<string>();

/** Organizations as they were within the last second. Only requests that debit use them. */
const recentOrganizations = new TtlCache<OrganizationRecord | undefined>({ ttlMs: secondMs });

/**
 * Reads an API key, and its organization too if that is known. The owner of the key never changes, so it is cached. The key is
 * read as it is now, so that its end takes effect immediately. So is the organization, unless it may lag.
 */
export async function readApiKey(secret: string, mayLag: boolean): Promise<ReadApiKey> {
  const key = keys.apiKey(hashApiKeySecret(secret));
  const organizationId = organizationIdsOfKeys.get(key.pk);
  if (organizationId === undefined) {
    return { key, record: await findItem(CredentialRecord, key, { consistent: true }) };
  }
  const [record, organization] = mayLag
    ? await Promise.all([
        findItem(CredentialRecord, key, { consistent: true }),
        recentOrganizations.read(async () => findOrganization(organizationId), organizationId),
      ])
    : await findBoth(
        { schema: CredentialRecord, key },
        { schema: OrganizationRecord, key: keys.organization(organizationId) },
      );
  // No debit follows a test key's request, and a suspension may have ended: the organization is then read as it is now.
  if (mayLag && (record?.test === true || organization?.suspendedAt !== undefined)) return { key, record };
  if (record?.organizationId === organizationId) return { key, record, organization };
  organizationIdsOfKeys.delete(key.pk);
  return { key, record };
}
