import {
  InviteMemberRequest,
  Member,
  MemberParams,
  RemovedMember,
  UpdateMemberRequest,
} from "../contract/members.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

/** What the audit log keeps of a member: who they are its other entries say by the same id. */
const auditedOfMember = ["id", "role", "status"] as const;

export const listMembers = {
  method: "GET",
  path: "/v1/members",
  tag: "members",
  summary: "List the members of the organisation, and who is invited",
  auth: "session",
  query: PageQuery,
  status: 200,
  data: Member,
  paged: true,
  errors: [],
} as const satisfies Route;

export const inviteMember = {
  method: "POST",
  path: "/v1/members",
  tag: "members",
  summary: "Invite somebody by email; once more, to send another link or for another role",
  auth: "session",
  body: InviteMemberRequest,
  status: 201,
  data: Member,
  audited: auditedOfMember,
  errors: ["EMAIL_DISABLED", "EMAIL_NOT_VERIFIED", "REAUTHENTICATION_REQUIRED", "CONFLICT", "RATE_LIMITED"],
} as const satisfies Route;

export const updateMember = {
  method: "PATCH",
  path: "/v1/members/{id}",
  tag: "members",
  summary: "Give another role to a member, which counts from their next request on, or to an invitation",
  auth: "session",
  params: MemberParams,
  body: UpdateMemberRequest,
  status: 200,
  data: Member,
  audited: auditedOfMember,
  errors: ["LAST_OWNER", "REAUTHENTICATION_REQUIRED"],
} as const satisfies Route;

export const deleteMember = {
  method: "DELETE",
  path: "/v1/members/{id}",
  tag: "members",
  summary: "Remove a member with the sessions and API keys of theirs, or take back an invitation",
  auth: "session",
  params: MemberParams,
  status: 200,
  data: RemovedMember,
  audited: auditedOfMember,
  errors: ["LAST_OWNER", "REAUTHENTICATION_REQUIRED"],
} as const satisfies Route;

export const routes = { listMembers, inviteMember, updateMember, deleteMember };
