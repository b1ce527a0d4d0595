import { ApiError } from "../../api/contract/errors.ts";
import { defaultScopes } from "../../api/contract/scopes.ts";
import { isAddressIn } from "../../platform/auth/address-blocks.ts";
import { hashApiKeySecret, isApiKeySecret } from "../../platform/auth/api-key-secret.ts";
import { noteUse } from "../../platform/auth/api-key-use.ts";
import { hasExpired } from "../../platform/auth/expiry.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findBoth, findItem } from "../../platform/table/read.ts";
import { CredentialRecord } from "../../tenancy/api-keys/record.ts";
import { findOrganization, OrganizationRecord } from "../../tenancy/organizations/record.ts";
import type { Caller, Rejected } from "./authenticate.ts";

/** Returns the caller of an API key. @throws ApiError ADDRESS_NOT_ALLOWED */
export async function callerOfApiKey(secret: string, address: string): Promise<Caller | Rejected> {
  if (!isApiKeySecret(secret)) return "malformed";
  const key = keys.apiKey(hashApiKeySecret(secret));
  const { record, organization: known } = await readApiKey(key);
  if (record === undefined) return "unknown";
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

/** The organizations of accepted API keys, by the hash of the key. */
const organizationIdsOfKeys = new BoundedMap<string>();

/**
 * Reads an API key, and its organization in the same request if that is known. Only the owner of the key is cached, because it
 * never changes. Both items are read as they are now, so that a disabled key and a suspension take effect immediately.
 */
async function readApiKey(key: Key<"apiKey">): Promise<{
  readonly record: CredentialRecord | undefined;
  readonly organization?: OrganizationRecord | undefined;
}> {
  const organizationId = organizationIdsOfKeys.get(key.pk);
  if (organizationId === undefined) {
    return { record: await findItem(CredentialRecord, key, { consistent: true }) };
  }
  const [record, organization] = await findBoth(
    { schema: CredentialRecord, key },
    { schema: OrganizationRecord, key: keys.organization(organizationId) },
  );
  if (record?.organizationId === organizationId) return { record, organization };
  organizationIdsOfKeys.delete(key.pk);
  return { record };
}
