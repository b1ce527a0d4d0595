import * as z from "zod/mini";

import type { Organization } from "../contract/accounts.ts";
import { SenderId } from "../contract/sms.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, updateItem, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/** How many there are of each kind that an organisation may have a limited number of. */
const quotaCounts = {
  apiKeyCount: z._default(z.int().check(z.nonnegative()), 0),
  campaignCount: z._default(z.int().check(z.nonnegative()), 0),
  contactCount: z._default(z.int().check(z.nonnegative()), 0),
  /** Beside the one that it cannot be without, with invitations. */
  furtherMemberCount: z._default(z.int().check(z.nonnegative()), 0),
  senderIdCount: z._default(z.int().check(z.nonnegative()), 0),
  templateCount: z._default(z.int().check(z.nonnegative()), 0),
  webhookCount: z._default(z.int().check(z.nonnegative()), 0),
};
export type QuotaCount = keyof typeof quotaCounts;

export const OrganizationRecord = z.object({
  entity: z.literal("organization"),
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  /** An approved sender ID, used by messages that name none. */
  defaultSenderId: z.optional(SenderId),
  /** Since when its calls are refused, and why: the operator has said so. */
  suspendedAt: z.optional(z.string()),
  suspendedReason: z.optional(z.string()),
  /** Which version of prices of its own it has, if it has any: who has none is not looked up. */
  priceOverridesVersion: z.optional(z.string()),
  /** Since when it has a number that people can reply to. Without one there can be no STOP. */
  repliesSince: z.optional(z.string()),
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

/** What a record says of the state of its organisation, whatever else it has. */
const State = z.pick(OrganizationRecord, { repliesSince: true, suspendedAt: true, webhookCount: true });

/** What whoever works for an organisation, and was not called by it, has to know of it. */
export interface OrganizationState {
  /** Whether an operator has suspended it. */
  readonly isSuspended: boolean;
  /** Whether anybody hears of its events. */
  readonly hasWebhooks: boolean;
  /** Whether people can have answered it. */
  readonly mayHaveReplies: boolean;
}

/**
 * The state of an organisation; of one that is not there, that it is not suspended and has no webhooks. Consistent: a
 * webhook that was just made hears of what happens next.
 */
export async function stateOfOrganization(organizationId: string): Promise<OrganizationState> {
  const found = await findItem(State, keys.organization(organizationId), { consistent: true });
  return {
    isSuspended: found?.suspendedAt !== undefined,
    hasWebhooks: (found?.webhookCount ?? 0) > 0,
    mayHaveReplies: found === undefined || found.repliesSince !== undefined,
  };
}

/** The same for those who ask for several organizations at about the same time: each is read once. */
export function statesOfOrganizations(): typeof stateOfOrganization {
  const states = new Map<string, Promise<OrganizationState>>();
  return async (organizationId) => {
    const state = states.get(organizationId) ?? stateOfOrganization(organizationId);
    states.set(organizationId, state);
    return state;
  };
}

/** Notes that people can answer an organization. One that is not there is passed over. */
export async function noteReplies(organizationId: string): Promise<void> {
  const changes = { setIfAbsent: { repliesSince: now().toISOString() } };
  await updateItem(
    z.unknown(),
    updateOf(keys.organization(organizationId), changes, { present: ["pk"], absent: ["repliesSince"] }),
  );
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
