import { ApiError, invalidField, orNotFound } from "../api/contract/errors.ts";
import type {
  SaveVerificationProfileRequest,
  VerificationProfile,
} from "../api/contract/verification-profiles.ts";
import { isSenderRejected } from "../messages/accept/policies.ts";
import { transactWithEmails } from "../notices/emails/queue-email.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { untilUndisturbed } from "../platform/table/transact.ts";
import { atVersion, requireVersion } from "../platform/table/version.ts";
import { deleteOf, putOf } from "../platform/table/write.ts";
import { changeNotices } from "../tenancy/organizations/owner-notices.ts";
import { releaseQuota, takeQuota } from "../tenancy/organizations/quota.ts";
import {
  builtInGuard,
  defaultName,
  findSavedProfile,
  maxProfiles,
  type Guarding,
  type VerificationProfileRecord,
} from "./profiles.ts";
import { fitsAndroid, tooLong, verificationText } from "./texts.ts";

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
    const written = await transactWithEmails(notices, {
      profile: putOf(key, record, isNew ? { absent: ["pk"] } : { present: ["pk"], ...atVersion(version) }),
      quota: isNew ? takeQuota(organizationId, "verificationProfileCount", maxProfiles) : [],
    });
    if (written.outcome === "committed") return profile;
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
  const saved = orNotFound(await findSavedProfile(organizationId, name));
  // Only the profile `default` has another one in its place.
  const isWeakened = name === defaultName && isWeaker(builtInGuard, saved);
  const notices = isWeakened ? await changeNotices(organizationId, "guardWeakened") : [];
  const deleted = await transactWithEmails(notices, {
    profile: deleteOf(keys.verificationProfile(organizationId, name), { present: ["pk"] }),
    quota: releaseQuota(organizationId, "verificationProfileCount"),
  });
  if (deleted.outcome === "rejected") throw new ApiError("NOT_FOUND");
  return { name, deleted: true };
}
