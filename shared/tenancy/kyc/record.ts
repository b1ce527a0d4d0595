import * as z from "zod/mini";

import { KycSubmission } from "../../api/contract/kyc.ts";
import type { Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { type Put, putOf } from "../../platform/table/write.ts";

/**
 * The one submission of an organization. A new submission has a new id, so that a decision on an old one is rejected.
 */
export const KycRecord = z.extend(KycSubmission, { entity: z.literal("kyc"), organizationId: z.string() });
export type KycRecord = z.infer<typeof KycRecord>;

/** Reads an organization's submission as it is now. */
export async function findKyc(organizationId: string): Promise<KycRecord | undefined> {
  return findItem(KycRecord, keys.kyc(organizationId), { consistent: true });
}

/**
 * Returns the write that replaces the submission that was read. It is rejected when that one was decided on or replaced
 * in between.
 */
export function replaceKyc(seen: KycRecord | undefined, next: KycRecord): Put {
  const { id, status } = seen ?? {};
  const requires: Requirements<"kyc"> = seen === undefined ? { absent: ["pk"] } : { is: { id, status } };
  return putOf(keys.kyc(next.organizationId), next, requires);
}

export function toApiKyc(record: KycRecord): KycSubmission {
  return KycSubmission.parse(record);
}
