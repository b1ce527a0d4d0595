import * as z from "zod";

import type { Organization } from "../contract/accounts.ts";
import { SenderId } from "../contract/sms.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/** How many there are of each kind that an organisation may have a limited number of. */
const quotaCounts = {
  apiKeyCount: z.int().nonnegative().default(0),
  campaignCount: z.int().nonnegative().default(0),
  contactCount: z.int().nonnegative().default(0),
  senderIdCount: z.int().nonnegative().default(0),
  templateCount: z.int().nonnegative().default(0),
  webhookCount: z.int().nonnegative().default(0),
};
export type QuotaCount = keyof typeof quotaCounts;

export const OrganizationRecord = z.object({
  entity: z.literal("organization"),
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  /** The user who registered it. */
  ownerId: z.string().optional(),
  /** An approved sender ID, used by messages that name none. */
  defaultSenderId: SenderId.optional(),
  ...quotaCounts,
});
export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

/** Eventually consistent unless asked otherwise. */
export async function findOrganization(
  organizationId: string,
  options: { consistent?: boolean } = {},
): Promise<OrganizationRecord | undefined> {
  return findItem(OrganizationRecord, keys.organization(organizationId), options);
}

/** The approved sender ID that the organisation's messages carry when they name none. */
export async function findDefaultSenderId(organizationId: string): Promise<string | undefined> {
  return (await findOrganization(organizationId))?.defaultSenderId;
}

/** The write that puts another default, or none, in the place of the one that was seen. */
export function replaceDefaultSenderId(
  organizationId: string,
  seen: string | undefined,
  next: string | undefined,
): Update {
  return updateOf(
    keys.organization(organizationId),
    next === undefined ? { remove: ["defaultSenderId"] } : { set: { defaultSenderId: next } },
    seen === undefined
      ? { present: ["pk"], absent: ["defaultSenderId"] }
      : { present: ["pk"], is: { defaultSenderId: seen } },
  );
}

export function presentOrganization({ id, name, createdAt }: OrganizationRecord): Organization {
  return { id, name, createdAt };
}
