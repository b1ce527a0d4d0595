import { randomUUID } from "node:crypto";

import { AcceptedInvitation } from "../../shared/contract/members.ts";
import type { Role } from "../../shared/contract/scopes.ts";
import { call, dataOf, password, type Customer } from "./api.ts";
import { linkIn } from "./emails.ts";

/** Lets somebody whom a customer of the shared gateway has invited accept, with the link that came by email. */
export async function acceptInvitation(email: string, firstName = "Grace"): Promise<void> {
  const token = new URL(await linkIn(email, "You are invited")).hash.replace(/^#\w+=/, "");
  const json = { token, password, firstName };
  dataOf(await call("/v1/auth/accept-invitation", { json }), AcceptedInvitation);
}

/** A new member of a customer's organisation. */
export async function joinAs(
  role: Role,
  { client }: Customer,
  firstName?: string,
): Promise<{ email: string }> {
  const email = `${randomUUID()}@example.com`;
  await client.inviteMember({ body: { email, role } });
  await acceptInvitation(email, firstName);
  return { email };
}
