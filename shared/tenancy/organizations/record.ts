import * as z from "zod/mini";

import type { Organization } from "../../api/contract/accounts.ts";
import { SenderId } from "../../api/contract/senders.ts";
import { now } from "../../platform/clock.ts";
import { pendingWorkFields } from "../../platform/jobs/pending-work.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { type Update, updateItem, updateOf } from "../../platform/table/write.ts";

/** The counts for which an organization has a maximum. */
const quotaCounts = {
  apiKeyCount: z._default(z.int().check(z.nonnegative()), 0),
  campaignCount: z._default(z.int().check(z.nonnegative()), 0),
  contactCount: z._default(z.int().check(z.nonnegative()), 0),
  /** Members without the one that every organization has, and with invitations. */
  furtherMemberCount: z._default(z.int().check(z.nonnegative()), 0),
  senderIdCount: z._default(z.int().check(z.nonnegative()), 0),
  templateCount: z._default(z.int().check(z.nonnegative()), 0),
  /** Absent without saved profiles, and in items of 0.3.0. */
  verificationProfileCount: z.optional(z.int().check(z.nonnegative())),
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
  /** When the operator suspended the organization, and why. Its calls are rejected while this is set. */
  suspendedAt: z.optional(z.string()),
  suspendedReason: z.optional(z.string()),
  /** When a member paused all sending, until they resume it. */
  pausedAt: z.optional(z.string()),
  /** When an owner required a second factor of all members, until one no longer does. */
  secondFactorRequiredAt: z.optional(z.string()),
  /** The version of the organization's own prices. Without a version, the prices are not looked up. */
  priceOverridesVersion: z.optional(z.string()),
  /** Since when it has a number that people can reply to. Without such a number there can be no STOP. */
  repliesSince: z.optional(z.string()),
  ...quotaCounts,
});
export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

/** The item also lists an organization that may expire in the pending-work index. */
export const StoredOrganization = z.extend(OrganizationRecord, pendingWorkFields);

/** Reads an organization, eventually consistent by default. */
export async function findOrganization(
  organizationId: string,
  options: { consistent?: boolean } = {},
): Promise<OrganizationRecord | undefined> {
  return findItem(OrganizationRecord, keys.organization(organizationId), options);
}

/** The part of the record that is the state of its organization. */
const State = z.pick(OrganizationRecord, {
  pausedAt: true,
  repliesSince: true,
  suspendedAt: true,
  webhookCount: true,
});

/** The state of an organization that jobs need, and other work outside its own requests. */
export interface OrganizationState {
  /** Whether an operator has suspended it. */
  readonly isSuspended: boolean;
  /** Whether it has paused its own sending. */
  readonly isPaused: boolean;
  /** Whether webhooks receive its events. */
  readonly hasWebhooks: boolean;
  /** Whether people can have replied to it. */
  readonly mayHaveReplies: boolean;
}

/**
 * Reads the state of an organization. A missing organization is not suspended and has no webhooks. The read is
 * consistent, so that a new webhook receives the next event.
 */
export async function stateOfOrganization(organizationId: string): Promise<OrganizationState> {
  const found = await findItem(State, keys.organization(organizationId), { consistent: true });
  return {
    isSuspended: found?.suspendedAt !== undefined,
    isPaused: found?.pausedAt !== undefined,
    hasWebhooks: (found?.webhookCount ?? 0) > 0,
    mayHaveReplies: found === undefined || found.repliesSince !== undefined,
  };
}

/** Returns a function like `stateOfOrganization` that reads each organization only once. */
export function statesOfOrganizations(): typeof stateOfOrganization {
  const states = new Map<string, Promise<OrganizationState>>();
  return async (organizationId) => {
    const state = states.get(organizationId) ?? stateOfOrganization(organizationId);
    states.set(organizationId, state);
    return state;
  };
}

/** Notes that people can reply to an organization. Ignores a missing organization. */
export async function noteReplies(organizationId: string): Promise<void> {
  const changes = { setIfAbsent: { repliesSince: now().toISOString() } };
  await updateItem(
    z.unknown(),
    updateOf(keys.organization(organizationId), changes, { present: ["pk"], absent: ["repliesSince"] }),
  );
}

/** Returns the write that replaces the default that was seen with another, or with none. */
export function replaceDefaultSenderId(
  organizationId: string,
  seen: string | undefined,
  next: string | undefined,
): Update<"organization"> {
  return updateOf(
    keys.organization(organizationId),
    next === undefined ? { remove: ["defaultSenderId"] } : { set: { defaultSenderId: next } },
    seen === undefined
      ? { present: ["pk"], absent: ["defaultSenderId"] }
      : { present: ["pk"], is: { defaultSenderId: seen } },
  );
}

export function toApiOrganization(organization: OrganizationRecord): Organization {
  const { id, name, secondFactorRequiredAt, createdAt } = organization;
  return { id, name, secondFactorRequired: secondFactorRequiredAt !== undefined, createdAt };
}
