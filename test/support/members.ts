import { randomUUID } from "node:crypto";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { AcceptedInvitation } from "../../shared/api/contract/members.ts";
import type { Role } from "../../shared/api/contract/scopes.ts";
import { call, dataOf, password, type Customer } from "./api.ts";
import { linkIn } from "./emails.ts";

/** Accepts an invitation on the shared gateway with the link in the email. */
async function acceptInvitation(email: string, firstName = "Grace"): Promise<void> {
  const token = new URL(await linkIn(email, "You are invited")).hash.replace(/^#\w+=/, "");
  const json = { token, password, firstName };
  dataOf(await call("/v1/auth/accept-invitation", { json }), AcceptedInvitation);
}

/** A new member of a customer's organization with a verified email. */
export async function joinAs(
  role: Role,
  { client, organizationId }: Customer,
  firstName?: string,
): Promise<{ email: string }> {
  await noteVerifiedEmail(organizationId);
  const email = `${randomUUID()}@example.com`;
  await client.inviteMember({ body: { email, role } });
  await acceptInvitation(email, firstName);
  return { email };
}
