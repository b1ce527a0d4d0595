import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { EmailToken, exampleEmailToken, Name, Organization, Password, User } from "./accounts.ts";
import { Email } from "./email-addresses.ts";
import { idSchema, Timestamp } from "./primitives.ts";
import { Role } from "./scopes.ts";
import { Webhook } from "./webhooks.ts";

/** Someone who is in an organization, or is invited into it. */
export const Member = namedObject("Member", {
  id: about(idSchema("usr"), "The user's id; who is invited gets it with the account."),
  email: z.string(),
  firstName: z.optional(z.string()),
  lastName: z.optional(z.string()),
  role: Role,
  status: about(
    namedEnum("MemberStatus", ["active", "invited", "expired"]),
    "`invited` until the invitation is accepted. `expired` when its time is over, or when the inviter may no longer " +
      "grant its role.",
  ),
  secondFactor: about(
    z.optional(z.boolean()),
    "Whether they need a code to log in. Owners and admins see it, and people see their own.",
  ),
  createdAt: Timestamp,
  invitedBy: about(z.optional(idSchema("usr")), "For an invitation."),
  expiresAt: about(z.optional(Timestamp), "For an invitation."),
});
export type Member = z.infer<typeof Member>;

export const MemberParams = z.object({ id: idSchema("usr") });

export const InviteMemberRequest = withExample(
  namedObject("InviteMemberRequest", { email: Email, role: Role }),
  { email: "grace@example.com", role: "developer" },
);
export type InviteMemberRequest = z.infer<typeof InviteMemberRequest>;

export const UpdateMemberRequest = withExample(namedStrictObject("UpdateMemberRequest", { role: Role }), {
  role: "viewer",
});
export type UpdateMemberRequest = z.infer<typeof UpdateMemberRequest>;

export const UpdateOrganizationRequest = withExample(
  namedStrictObject("UpdateOrganizationRequest", { secondFactorRequired: z.boolean() }),
  { secondFactorRequired: true },
);
export type UpdateOrganizationRequest = z.infer<typeof UpdateOrganizationRequest>;

export const RemovedMember = namedObject("RemovedMember", {
  id: idSchema("usr"),
  deleted: z.literal(true),
  webhooks: about(z.array(Webhook), "The enabled ones that they registered. These are still called."),
});
export type RemovedMember = z.infer<typeof RemovedMember>;

export const AcceptInvitationRequest = withExample(
  namedObject("AcceptInvitationRequest", {
    token: EmailToken,
    password: Password,
    firstName: z.optional(Name),
    lastName: z.optional(Name),
  }),
  { token: exampleEmailToken, password: "correct horse", firstName: "Grace" },
);
export type AcceptInvitationRequest = z.infer<typeof AcceptInvitationRequest>;

/** No session: who accepts logs in, with the password that they have given. */
export const AcceptedInvitation = namedObject("AcceptedInvitation", {
  user: User,
  organization: Organization,
});
export type AcceptedInvitation = z.infer<typeof AcceptedInvitation>;
