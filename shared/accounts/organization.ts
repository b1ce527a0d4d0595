import * as z from "zod";

import type { Organization } from "../contract/accounts.ts";
import { SenderId } from "../contract/sms.ts";
import { keys } from "../platform/keys.ts";
import { readItem, type Update } from "../platform/table.ts";

export const OrganizationRecord = z.object({
  entity: z.literal("organization"),
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  /** An approved sender ID, used by messages that name none. */
  defaultSenderId: SenderId.optional(),
  apiKeyCount: z.int().nonnegative(),
  webhookCount: z.int().nonnegative(),
});
export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

export async function readOrganization(organizationId: string): Promise<OrganizationRecord | undefined> {
  return readItem(OrganizationRecord, keys.organization(organizationId));
}

/** The approved sender ID that the organisation's messages carry when they name none. */
export async function defaultSenderId(organizationId: string): Promise<string | undefined> {
  return (await readOrganization(organizationId))?.defaultSenderId;
}

export function presentOrganization({ id, name, createdAt }: OrganizationRecord): Organization {
  return { id, name, createdAt };
}

type Count = "apiKeyCount" | "webhookCount";

/** The write that takes one place of a limited kind; it fails when all are taken. */
export function takePlace(organizationId: string, count: Count, max: number): Update {
  return {
    key: keys.organization(organizationId),
    update: `SET ${count} = ${count} + :one`,
    condition: `${count} < :max`,
    values: { ":one": 1, ":max": max },
  };
}

/** The write that gives a place back. */
export function freePlace(organizationId: string, count: Count): Update {
  return {
    key: keys.organization(organizationId),
    update: `SET ${count} = ${count} - :one`,
    condition: `${count} > :zero`,
    values: { ":one": 1, ":zero": 0 },
  };
}
