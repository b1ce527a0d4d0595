import { ApiError } from "../contract/errors.ts";
import type { Member } from "../contract/members.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { pageOf } from "../platform/table/page.ts";
import { allMembers, findMember, presentMember } from "./member-record.ts";
import type { OrganizationRecord } from "./organization-record.ts";

/** Who is in an organisation or invited into it, in the order in which they came. */
export async function listMembers(organization: OrganizationRecord, query: PageQuery): Promise<Page<Member>> {
  const members = await allMembers(organization);
  const shown = members.filter((member) => member.entity === "invitation" || member.removedAt === undefined);
  return pageOf(shown.map(presentMember), query);
}

/**
 * A member or an invitation of an organisation.
 * @throws ApiError NOT_FOUND, also for one of another organisation
 */
export async function getMember(organizationId: string, userId: string): Promise<Member> {
  const member = await findMember(organizationId, userId);
  if (member === undefined) throw new ApiError("NOT_FOUND");
  return presentMember(member);
}
