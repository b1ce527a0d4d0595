import { newWallet } from "../../money/wallet/record.ts";
import { newId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { insertOf, type Write } from "../../platform/table/write.ts";
import { insertMember } from "../../tenancy/organizations/member-record.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { insertRights } from "../../tenancy/organizations/rights-record.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";
import { expiryOf } from "../organizations/verification.ts";
import { putFirstPassword } from "../passwords/record.ts";

interface Request extends Pick<UserRecord, "email" | "firstName" | "lastName"> {
  readonly organizationName?: string | undefined;
  readonly passwordHash: string;
  /** Whether the email is known to be the user's. */
  readonly isVerified: boolean;
}

/** A user who owns a new organization with an empty wallet, and the writes that create them, except that of the email. */
export interface NewAccount {
  readonly user: UserRecord;
  readonly organization: OrganizationRecord;
  readonly writes: readonly Write[];
}

export function newAccount(request: Request, at: Date): NewAccount {
  const { email, firstName, lastName, organizationName = email, passwordHash, isVerified } = request;
  const createdAt = at.toISOString();
  const [id, organizationId] = [newId("usr"), newId("org")];
  const user: UserRecord = {
    entity: "user",
    id,
    organizationId,
    email,
    firstName,
    lastName,
    createdAt,
    ...(isVerified && { emailVerifiedAt: createdAt }),
  };
  const organization: OrganizationRecord = {
    entity: "organization",
    id: organizationId,
    name: organizationName,
    createdAt,
    apiKeyCount: 0,
    campaignCount: 0,
    contactCount: 0,
    furtherMemberCount: 0,
    senderIdCount: 0,
    templateCount: 0,
    webhookCount: 0,
  };
  const expiry = isVerified ? {} : expiryOf(organizationId, at);
  const writes = [
    insertOf(keys.user(id), user),
    putFirstPassword(id, passwordHash),
    insertMember(organizationId, id, "owner"),
    insertOf(keys.organization(organizationId), { ...organization, ...expiry }),
    insertRights(organizationId, id, { isVerified }),
    ...newWallet(organizationId, at),
  ];
  return { user, organization, writes };
}
