import * as z from "zod/mini";

import { ApiError, invalidField } from "../api/contract/errors.ts";
import type { Page, PageQuery } from "../api/contract/primitives.ts";
import {
  type SaveVerificationProfileRequest,
  VerificationProfile,
} from "../api/contract/verification-profiles.ts";
import { isSenderRejected } from "../messages/accept/policies.ts";
import { brand } from "../notices/brand/brand.ts";
import { owedEmail } from "../notices/emails/email-job.ts";
import { queueOwedEmails } from "../notices/emails/queue-email.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { findItem, itemsOf, queryRows } from "../platform/table/read.ts";
import { transact, untilUndisturbed } from "../platform/table/transact.ts";
import { atVersion, requireVersion, versionField } from "../platform/table/version.ts";
import { deleteOf, putOf } from "../platform/table/write.ts";
import { changeNotices } from "../tenancy/organizations/owner-notices.ts";
import { releaseQuota, takeQuota } from "../tenancy/organizations/quota.ts";
import { findOrganization } from "../tenancy/organizations/record.ts";
import { fitsAndroid, tooLong, verificationText } from "./texts.ts";

/** A profile as it is stored. */
const SavedProfile = z.extend(VerificationProfile, { version: versionField });

export const VerificationProfileRecord = z.extend(SavedProfile, {
  entity: z.literal("verificationProfile"),
  organizationId: z.string(),
});
type VerificationProfileRecord = z.infer<typeof VerificationProfileRecord>;

const maxProfiles = 20;

/** The fields of a profile that restrict starts. */
type Guarding = Pick<VerificationProfile, "allow" | "countries" | "guard">;

const builtInGuard: Guarding = { guard: "monitor", allow: [] };

/** The profile of a verification that names none. */
const defaultName = "default";

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

/**
 * Adds a profile, or replaces it. All owners are notified of a weaker guard.
 * @throws ApiError SENDER_ID_NOT_APPROVED. VALIDATION_ERROR for a text too long for Android. CONFLICT for one profile too
 *   many, and for another version than the given one. UNAVAILABLE after too many other changes
 */
export async function saveProfile(
  organizationId: string,
  name: string,
  request: SaveVerificationProfileRequest,
): Promise<VerificationProfile> {
  const { version: seen, ...fields } = request;
  const { senderId } = fields;
  if (senderId !== undefined && (await isSenderRejected({ organizationId, senderId }))) {
    throw new ApiError("SENDER_ID_NOT_APPROVED");
  }
  checkTexts({ name, ...fields });
  const key = keys.verificationProfile(organizationId, name);
  return untilUndisturbed(async () => {
    const saved = await findSavedProfile(organizationId, name);
    const isNew = saved === undefined;
    const { version = 0 } = saved ?? {};
    requireVersion(seen, version);
    const profile = { name, ...fields, version: version + 1, updatedAt: now().toISOString() };
    const before = saved ?? (name === defaultName ? builtInGuard : undefined);
    const isWeakened = before !== undefined && isWeaker(profile, before);
    const notices = isWeakened ? await changeNotices(organizationId, "guardWeakened") : [];
    const record: VerificationProfileRecord = { entity: "verificationProfile", organizationId, ...profile };
    const written = await transact({
      profile: putOf(key, record, isNew ? { absent: ["pk"] } : { present: ["pk"], ...atVersion(version) }),
      quota: isNew ? takeQuota(organizationId, "verificationProfileCount", maxProfiles) : [],
      notices: notices.map(owedEmail),
    });
    if (written.outcome === "committed") {
      await queueOwedEmails(notices);
      return profile;
    }
    if (written.rejections.profile === undefined) {
      throw new ApiError("CONFLICT", { message: `An organization has at most ${maxProfiles} profiles.` });
    }
    return undefined;
  });
}

const strictness = { monitor: 0, block: 1, strict: 2 } as const;

/** Whether a profile rejects less fraud than before, or sends codes to more countries. */
function isWeaker(profile: Guarding, before: Guarding): boolean {
  const { guard, allow, countries } = profile;
  return (
    strictness[guard] < strictness[before.guard] ||
    allow.some((each) => !before.allow.some((beginning) => each.startsWith(beginning))) ||
    (before.countries !== undefined && countries?.every((each) => before.countries?.includes(each)) !== true)
  );
}

function checkTexts(profile: Omit<VerificationProfile, "version">): void {
  if (profile.appHash === undefined) return;
  const { texts = {}, domain } = profile;
  // Without a text in the language of a start, English is used.
  for (const locale of [...Object.keys(texts), "en"]) {
    if (fitsAndroid(verificationText(profile, { locale }).text)) continue;
    const ofOthers = domain === undefined ? "brand" : "domain";
    throw invalidField(locale in texts ? `texts.${locale}` : ofOthers, tooLong);
  }
}

/**
 * Removes a saved profile.
 * @throws ApiError NOT_FOUND when it was not saved; UNAVAILABLE when too many other changes came in between
 */
export async function deleteProfile(
  organizationId: string,
  name: string,
): Promise<{ name: string; deleted: true }> {
  const saved = await findSavedProfile(organizationId, name);
  if (saved === undefined) throw new ApiError("NOT_FOUND");
  // Only the profile `default` has another one in its place.
  const isWeakened = name === defaultName && isWeaker(builtInGuard, saved);
  const notices = isWeakened ? await changeNotices(organizationId, "guardWeakened") : [];
  const deleted = await transact({
    profile: deleteOf(keys.verificationProfile(organizationId, name), { present: ["pk"] }),
    quota: releaseQuota(organizationId, "verificationProfileCount"),
    notices: notices.map(owedEmail),
  });
  if (deleted.outcome === "rejected") throw new ApiError("NOT_FOUND");
  await queueOwedEmails(notices);
  return { name, deleted: true };
}
