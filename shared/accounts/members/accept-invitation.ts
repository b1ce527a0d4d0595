import { ApiError } from "../../api/contract/errors.ts";
import type { AcceptedInvitation, AcceptInvitationRequest } from "../../api/contract/members.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import { now } from "../../platform/clock.ts";
import { networkOf } from "../../platform/source-network.ts";
import { entryOfUser } from "../../platform/table/audit-log.ts";
import { keys } from "../../platform/table/keys.ts";
import { untilUndisturbed } from "../../platform/table/transact.ts";
import { insertOf, deleteOf } from "../../platform/table/write.ts";
import {
  checkMember,
  findInvitation,
  keyOfInvitedEmail,
  insertMember,
} from "../../tenancy/organizations/member-record.ts";
import { roleNotices } from "../../tenancy/organizations/owner-notices.ts";
import { findOrganization, toApiOrganization } from "../../tenancy/organizations/record.ts";
import { changeRights, readRights, replaceOwners } from "../../tenancy/organizations/rights-record.ts";
import { findEmailToken } from "../../tenancy/users/email-tokens.ts";
import { findUserByEmail, toApiUser, type EmailRecord, type UserRecord } from "../../tenancy/users/record.ts";
import { doesNotExpire, isReplaceable, replaceUnproven, verifiedIn } from "../organizations/verification.ts";
import { requireUncommonPassword } from "../passwords/common-passwords.ts";
import { hashPassword } from "../passwords/hash.ts";
import { rememberNetwork } from "../passwords/known-networks.ts";
import { putFirstPassword } from "../passwords/record.ts";
import { managersOf } from "./manager.ts";

/**
 * Makes the user who opened the link of an invitation a member. The link shows that the email is theirs.
 * @throws ApiError INVALID_EMAIL_TOKEN, also when the invitation was withdrawn, or its inviter was removed or may no
 *   longer grant its role. EMAIL_TAKEN when an account has the email, because a user belongs to one organization. An
 *   owner who never proved it is replaced: anyone can register with the email.
 *   ORGANIZATION_SUSPENDED. VALIDATION_ERROR for a password that the stage or bcrypt does not accept. UNAVAILABLE
 */
export async function acceptInvitation(
  { token, password, firstName, lastName }: AcceptInvitationRequest,
  sourceIp: string,
): Promise<AcceptedInvitation> {
  const shown = await findEmailToken("invitation", token);
  const invited = shown && (await findInvitation(shown.userId));
  if (shown === undefined || invited === undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
  await requireUncommonPassword(password, invited.email);
  const passwordHash = await hashPassword(password);
  await rememberNetwork(invited.email, networkOf(sourceIp));
  return untilUndisturbed(async () => {
    const { userId: id } = shown;
    const invitation = await findInvitation(id);
    const organization =
      invitation && (await findOrganization(invitation.organizationId, { consistent: true }));
    if (invitation === undefined || organization === undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
    if (organization.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
    const { organizationId, email, role } = invitation;
    const rights = await readRights(organizationId, { consistent: true });
    const at = now().toISOString();
    const user: UserRecord = {
      entity: "user",
      id,
      organizationId,
      email,
      firstName,
      lastName,
      createdAt: at,
      emailVerifiedAt: at,
    };
    const owner: EmailRecord = { entity: "email", userId: id };
    const other = await findUserByEmail(email);
    const isReplaced =
      other !== undefined && other.organizationId !== organizationId && (await isReplaceable(other));
    const notices = await roleNotices(rights, "Added", { email, role });
    const accepted = await transactWithEmails(notices, {
      email: isReplaced ? await replaceUnproven(other, id, new Date(at)) : insertOf(keys.email(email), owner),
      token: shown.use,
      invitation: deleteOf(keys.invitation(id), { is: { createdAt: invitation.createdAt, role } }),
      // The inviter must still be allowed to grant the role.
      inviter: checkMember(organizationId, invitation.invitedBy, managersOf(role)),
      member: [
        deleteOf(keyOfInvitedEmail(organizationId, email)),
        insertMember(organizationId, id, role),
        insertOf(keys.user(id), user),
        putFirstPassword(id, passwordHash),
      ],
      organization: [
        role === "owner"
          ? replaceOwners(rights, [...rights.ownerIds, id], verifiedIn(id))
          : changeRights(organizationId, verifiedIn(id)),
        doesNotExpire(organizationId),
      ],
      audit: entryOfUser("POST /v1/auth/accept-invitation", user, sourceIp, { id, role }),
    });
    if (accepted.outcome === "committed") {
      return { user: toApiUser(user), organization: toApiOrganization(organization) };
    }
    const { rejections } = accepted;
    if (rejections.token !== undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
    if (rejections.inviter !== undefined) {
      throw new ApiError("INVALID_EMAIL_TOKEN", {
        message: "The person who invited you can no longer grant this role. Request another invitation.",
      });
    }
    if (rejections.email !== undefined && !isReplaced) {
      throw new ApiError("EMAIL_TAKEN", {
        message:
          "This email already has an account in another organization. Request an invitation to another email address.",
      });
    }
    // The role, the owners, or the other account with the email changed meanwhile.
    return undefined;
  });
}
