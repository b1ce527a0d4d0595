import { Organization } from "../contract/accounts.ts";
import {
  InviteMemberRequest,
  Member,
  MemberParams,
  RemovedMember,
  UpdateMemberRequest,
  UpdateOrganizationRequest,
} from "../contract/members.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

/** The fields of a member that the audit log keeps. Other entries with the same id identify the person. */
const auditedOfMember = ["id", "role", "status"] as const;

export const listMembers = {
  method: "GET",
  path: "/v1/members",
  summary: "List the members of the organization, including invitations",
  description: "An invitation is a member without a user, until the person accepts it.",
  auth: "session",
  query: PageQuery,
  data: Member,
  paged: true,
} as const satisfies Route;

export const inviteMember = {
  method: "POST",
  path: "/v1/members",
  summary: "Invite a person by email; repeat to send another link or to change the role",
  description:
    "The person gets an email with a link that is valid for one week. No one can grant more rights than their own.",
  auth: "session",
  body: InviteMemberRequest,
  recentProof: true,
  status: 201,
  data: Member,
  idempotent: true,
  audited: auditedOfMember,
  errors: ["EMAIL_DISABLED", "EMAIL_NOT_VERIFIED", "CONFLICT", "RATE_LIMITED"],
} as const satisfies Route;

export const updateMember = {
  method: "PATCH",
  path: "/v1/members/{id}",
  summary: "Change the role of a member or of an invitation",
  description: "An organization always has an owner.",
  auth: "session",
  params: MemberParams,
  body: UpdateMemberRequest,
  recentProof: true,
  data: Member,
  audited: auditedOfMember,
  errors: ["LAST_OWNER"],
} as const satisfies Route;

export const deleteMember = {
  method: "DELETE",
  path: "/v1/members/{id}",
  summary:
    "Remove a member with their sessions and API keys, but not their webhooks, or withdraw an invitation",
  description: "The person's access ends immediately.",
  auth: "session",
  params: MemberParams,
  recentProof: true,
  data: RemovedMember,
  audited: auditedOfMember,
  errors: ["LAST_OWNER"],
} as const satisfies Route;

export const updateOrganization = {
  method: "PATCH",
  path: "/v1/organization",
  summary: "Require a second factor of all members, or no longer; only owners may",
  description: "You need a second factor yourself. API keys keep working without one.",
  auth: "session",
  body: UpdateOrganizationRequest,
  recentProof: true,
  data: Organization,
  audited: ["secondFactorRequired"],
  errors: ["CONFLICT"],
} as const satisfies Route;

export const routes = { listMembers, inviteMember, updateMember, deleteMember, updateOrganization };
