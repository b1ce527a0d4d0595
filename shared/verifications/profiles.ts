import * as z from "zod/mini";

import { ApiError } from "../api/contract/errors.ts";
import type { Page, PageQuery } from "../api/contract/primitives.ts";
import { VerificationProfile } from "../api/contract/verification-profiles.ts";
import { brand } from "../notices/brand/brand.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { findItem, itemsOf, queryRows } from "../platform/table/read.ts";
import { versionField } from "../platform/table/version.ts";
import { findOrganization } from "../tenancy/organizations/record.ts";

/** A profile as it is stored. */
const SavedProfile = z.extend(VerificationProfile, { version: versionField });

export const VerificationProfileRecord = z.extend(SavedProfile, {
  entity: z.literal("verificationProfile"),
  organizationId: z.string(),
});
export type VerificationProfileRecord = z.infer<typeof VerificationProfileRecord>;

export const maxProfiles = 20;

/** The fields of a profile that restrict starts. */
export type Guarding = Pick<VerificationProfile, "allow" | "countries" | "guard">;

export const builtInGuard: Guarding = { guard: "monitor", allow: [] };

/** The profile of a verification that names none. */
export const defaultName = "default";

/**
 * Reads a profile as it is now. Without a saved one, `default` has the organization's name as its brand.
 * @throws ApiError NOT_FOUND for another name without a profile
 */
export async function findProfile(organizationId: string, name = defaultName): Promise<VerificationProfile> {
  const saved = await findSavedProfile(organizationId, name);
  if (saved !== undefined) return saved;
  if (name === defaultName) return builtInProfile(organizationId);
  throw new ApiError("NOT_FOUND", { message: `There is no verification profile \`${name}\`.` });
}

/** Reads a profile that was saved, as it is now. */
export async function findSavedProfile(
  organizationId: string,
  name: string,
): Promise<VerificationProfile | undefined> {
  return findItem(SavedProfile, keys.verificationProfile(organizationId, name), { consistent: true });
}

async function builtInProfile(organizationId: string): Promise<VerificationProfile> {
  const organization = await findOrganization(organizationId);
  const name = organization?.name ?? "";
  // Without a name of its own an organization has the email address of its owner, which is not for all who get a code.
  // Braces would be taken for placeholders, and line breaks for the lines of Android and browsers.
  const text = Array.from((name.includes("@") ? brand().name : name).replaceAll(/[{}\s]+/g, " ").trim())
    .slice(0, 30)
    .join("");
  return { name: defaultName, brand: text, codeLength: 6, validitySeconds: 600, ...builtInGuard, version: 0 };
}

/** Returns a page of an organization's profiles by name, `default` included. */
export async function listProfiles(
  organizationId: string,
  query: PageQuery,
): Promise<Page<VerificationProfile>> {
  const rows = await queryRows(SavedProfile, {
    pk: keys.organization(organizationId).pk,
    from: "VERIFY-PROFILE#",
    to: "VERIFY-PROFILE#~",
    limit: maxProfiles,
    consistent: true,
  });
  const saved = itemsOf(rows);
  const hasDefault = saved.some(({ name }) => name === defaultName);
  return pageOf(hasDefault ? saved : [await builtInProfile(organizationId), ...saved], query);
}
