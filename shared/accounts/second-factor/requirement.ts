import { ApiError } from "../../api/contract/errors.ts";
import type { UpdateOrganizationRequest } from "../../api/contract/members.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { checkOf, updateOf } from "../../platform/table/write.ts";
import { inRole } from "../../tenancy/organizations/member-record.ts";
import { changeNotices } from "../../tenancy/organizations/owner-notices.ts";

/**
 * Requires a second factor of all members from now on, or no longer, and notifies the owners. Only owners may, because it holds
 * them too. They keep their own second factor: of this change and its removal at the same moment, one is rejected.
 * @throws ApiError INSUFFICIENT_SCOPE, UNAVAILABLE. CONFLICT when the caller has no second factor
 */
export async function updateOrganization(
  { organizationId, userId }: Actor,
  { secondFactorRequired }: UpdateOrganizationRequest,
): Promise<void> {
  const what = secondFactorRequired ? "secondFactorRequired" : "secondFactorOptional";
  const notices = await changeNotices(organizationId, what);
  const key = keys.organization(organizationId);
  const written = await transactWithEmails(notices, {
    role: checkOf(keys.member(organizationId, userId), inRole("owner")),
    secondFactor: checkOf(keys.user(userId), { present: ["secondFactorAt"], absent: ["removedAt"] }),
    organization: secondFactorRequired
      ? updateOf(
          key,
          { set: { secondFactorRequiredAt: now().toISOString() } },
          { present: ["pk"], absent: ["secondFactorRequiredAt"] },
        )
      : updateOf(key, { remove: ["secondFactorRequiredAt"] }, { present: ["secondFactorRequiredAt"] }),
  });
  if (written.outcome === "committed") return;
  const { role, secondFactor } = written.rejections;
  if (role) throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only owners can change this." });
  if (secondFactor) throw new ApiError("CONFLICT", { message: "Set up a second factor for yourself first." });
  // Otherwise it was so before.
}
