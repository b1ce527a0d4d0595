import * as z from "zod";

import type { Organization } from "../contract/accounts.ts";
import { SenderId } from "../contract/sms.ts";
import { keys } from "../platform/table/keys.ts";
import { readItem, type Update } from "../platform/table/table.ts";

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
  return readItem(OrganizationRecord, keys.organization(organizationId), options);
}

/** The approved sender ID that the organisation's messages carry when they name none. */
export async function defaultSenderId(organizationId: string): Promise<string | undefined> {
  return (await findOrganization(organizationId))?.defaultSenderId;
}

/** The write that puts another default, or none, in the place of the one that was seen. */
export function replaceDefaultSenderId(
  organizationId: string,
  seen: string | undefined,
  next: string | undefined,
): Update {
  const isAsSeen = seen === undefined ? "attribute_not_exists(defaultSenderId)" : "defaultSenderId = :seen";
  return {
    key: keys.organization(organizationId),
    update: next === undefined ? "REMOVE defaultSenderId" : "SET defaultSenderId = :next",
    // Says that the item is there, with a value: DynamoDB takes no empty set of values.
    condition: `entity = :organization AND ${isAsSeen}`,
    values: {
      ":organization": "organization",
      ...(seen === undefined ? {} : { ":seen": seen }),
      ...(next === undefined ? {} : { ":next": next }),
    },
  };
}

export function presentOrganization({ id, name, createdAt }: OrganizationRecord): Organization {
  return { id, name, createdAt };
}

/** The write that takes places of a limited kind; it fails when there are not as many left. */
export function takeQuota(organizationId: string, count: QuotaCount, max: number, places = 1): Update {
  return {
    key: keys.organization(organizationId),
    update: `ADD ${count} :places`,
    condition: `attribute_exists(pk) AND (attribute_not_exists(${count}) OR ${count} <= :highest)`,
    values: { ":places": places, ":highest": max - places },
  };
}

/** How many places of a limited kind are taken now. */
export async function usedQuota(organizationId: string, count: QuotaCount): Promise<number> {
  return (await findOrganization(organizationId, { consistent: true }))?.[count] ?? 0;
}

/** The write that gives a place back. */
export function releaseQuota(organizationId: string, count: QuotaCount): Update {
  return {
    key: keys.organization(organizationId),
    update: `ADD ${count} :minusOne`,
    condition: `${count} > :zero`,
    values: { ":minusOne": -1, ":zero": 0 },
  };
}
