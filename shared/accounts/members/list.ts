import { orNotFound } from "../../api/contract/errors.ts";
import type { Member } from "../../api/contract/members.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { pageOf } from "../../platform/table/page.ts";
import {
  allMembers,
  findMember,
  toApiMember,
  type InvitationRecord,
  type MemberRecord,
} from "../../tenancy/organizations/member-record.ts";
import { managersOf } from "./manager.ts";

/**
 * Returns the members and invitations of an organization, in the order in which they were made. Only managers see who has no
 * second factor, because thieves of sessions could use that.
 */
export async function listMembers(actor: Actor, query: PageQuery): Promise<Page<Member>> {
  const members = await allMembers(actor.organizationId);
  const shown = members.filter((member) => member.entity === "invitation" || member.removedAt === undefined);
  const own = shown.find((member) => member.entity === "user" && member.id === actor.userId);
  const isManager = own !== undefined && managersOf("viewer").includes(own.role);
  return pageOf(
    shown.map((member) => ({
      ...toApiMember(member),
      ...(member.entity === "invitation" && !isAnsweredFor(member, shown) && { status: "expired" }),
      ...(!isManager && member !== own && { secondFactor: undefined }),
    })),
    query,
  );
}

/** Reports whether an invitation is still valid: its inviter is a member who may grant its role. */
function isAnsweredFor({ invitedBy, role }: InvitationRecord, members: readonly MemberRecord[]): boolean {
  return members.some(
    (member) => member.entity === "user" && member.id === invitedBy && managersOf(role).includes(member.role),
  );
}

/**
 * Returns a member or an invitation of an organization.
 * @throws ApiError NOT_FOUND, also for a member of another organization
 */
export async function getMember(organizationId: string, userId: string): Promise<Member> {
  return toApiMember(orNotFound(await findMember(organizationId, userId)));
}
