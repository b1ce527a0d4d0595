import { listWallets } from "../../shared/money/wallet/record.ts";
import { findOrganization, type OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import type { Output } from "./output.ts";

/**
 * Reads an organization by its ID or the email of one of its users.
 * @throws Error when there is none
 */
export async function readOrganization(idOrEmail: string): Promise<OrganizationRecord> {
  const id = idOrEmail.includes("@")
    ? (await findUserByEmail(idOrEmail.toLowerCase()))?.organizationId
    : idOrEmail;
  const organization = id === undefined ? undefined : await findOrganization(id, { consistent: true });
  if (organization === undefined) throw new Error(`There is no organization ${idOrEmail}.`);
  return organization;
}

/** The IDs of the named organizations, or of all that have a wallet if none is named. */
export async function organizationIds(
  named: readonly string[],
): Promise<AsyncIterable<string> | readonly string[]> {
  if (named.length === 0) return listWallets();
  return Promise.all(named.map(async (each) => (await readOrganization(each)).id));
}

/** Organizations that a command reads at the same time. */
const batchSize = 25;

/** The IDs of all organizations, in batches. */
export async function* organizationBatches(): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const id of listWallets()) {
    batch.push(id);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The most organizations that a search reads. The command reports if there are more. */
const maxSearched = 100_000;

/**
 * Searches all organizations, some at the same time.
 * @param search returns what it finds in one
 * @param limits `isEnough`: whether the search ends early
 * @returns also whether all organizations were searched
 */
export async function searchOrganizations<Found>(
  search: (organizationId: string) => Promise<readonly Found[]>,
  output: Output,
  { isEnough, most = maxSearched }: { isEnough?: (found: readonly Found[]) => boolean; most?: number } = {},
): Promise<{ readonly found: readonly Found[]; readonly searched: number; readonly isWhole: boolean }> {
  const found: Found[] = [];
  let searched = 0;
  for await (const ids of organizationBatches()) {
    if (searched >= most || isEnough?.(found) === true) return { found, searched, isWhole: false };
    found.push(...(await Promise.all(ids.map(search))).flat());
    searched += ids.length;
    output.progress(`${searched} organizations searched, ${found.length} found`);
  }
  return { found, searched, isWhole: true };
}
