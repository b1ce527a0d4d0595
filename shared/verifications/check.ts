import { ApiError } from "../api/contract/errors.ts";
import { typedCode } from "../api/contract/plain-text.ts";
import type { CheckVerificationRequest, VerificationCheck } from "../api/contract/verifications.ts";
import { codeOf, proofOfCheck } from "../messages/message/verification-code.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { isSame } from "../platform/auth/is-same.ts";
import { now } from "../platform/clock.ts";
import { isTestId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import type { OrganizationRecord } from "../tenancy/organizations/record.ts";
import { countCheck, endCount } from "./checks-of-day.ts";
import { endNow } from "./end.ts";
import {
  isPending,
  maxChecks,
  pointerKey,
  VerificationRecord,
  VerifyingRecord,
  whilePending,
} from "./record.ts";

/** How often the check that approved a verification can be repeated. */
const maxRepeats = 5;

/**
 * Checks a code as people type it. Words beside its digits, such as those of its message, do not count. Each check is counted
 * before the code is compared, so that parallel guesses never exceed the maximum. Only one check approves a verification. The one
 * after the last fails it.
 * @param idempotencyKey the same key with the same code is the repeat of a check after a lost response. Its result is the same
 *   until the code expires, and it counts once.
 * @throws ApiError VERIFICATION_NOT_PENDING also for a verification that does not exist, TOO_MANY_CHECKS of it or of its number;
 *   UNAVAILABLE without the key of the code
 */
export async function checkVerification(
  organization: Pick<OrganizationRecord, "webhookCount">,
  viewer: Viewer,
  { id: givenId, to = "", profile, code }: CheckVerificationRequest,
  idempotencyKey?: string,
): Promise<VerificationCheck> {
  const { organizationId, isTest } = viewer;
  // A caller with a code of its own gives the id. By number, a code that another key made must not count.
  const pointer = pointerKey({ organizationId, profile, to, isTest, isOwn: false });
  const id = givenId ?? (await findItem(VerifyingRecord, pointer, { consistent: true }))?.verificationId;
  if (id === undefined || isTestId(id) !== isTest) throw new ApiError("VERIFICATION_NOT_PENDING");
  const proof =
    idempotencyKey === undefined
      ? undefined
      : await proofOfCheck(id, idempotencyKey, code).catch(throwUnavailable);
  const { above, is } = whilePending(now());
  const key = keys.verification(organizationId, id);
  const isNew = {
    is,
    above,
    below: { checks: maxChecks },
    isNot: proof === undefined ? {} : { checkProof: proof },
  };
  const counted = await updateItem(
    VerificationRecord,
    updateOf(key, { add: { checks: 1 }, set: { checkProof: proof } }, isNew),
    { isOwn: (found) => proof !== undefined && found.checkProof === proof && isPending(found) },
  );
  if (!counted.applied) {
    const found = counted.found === undefined ? undefined : VerificationRecord.parse(counted.found);
    if (found?.status === "approved" && proof !== undefined) return repeatApproval(found, proof);
    if (found === undefined || !isPending(found)) throw new ApiError("VERIFICATION_NOT_PENDING");
    await endNow(organization, found, "failed");
    throw new ApiError("TOO_MANY_CHECKS");
  }
  const record = counted.item;
  if (!isTest) await countCheck(record);
  const expected = await codeOf(id, record.code).catch(throwUnavailable);
  if (!isSame(typedCode(code, /^\d+$/.test(expected)), typedCode(expected))) {
    return { id, status: "pending", valid: false, checksLeft: maxChecks - record.checks };
  }
  try {
    await endNow(organization, record, "approved", proof);
  } catch (error) {
    const isEnded = error instanceof ApiError && error.code === "VERIFICATION_NOT_PENDING";
    if (!isEnded || proof === undefined) throw error;
    // The same check may have approved it in the meantime.
    return repeatApproval(record, proof);
  }
  return approvalOf(record);
}

/**
 * Repeats the check that approved a verification. A repeat counts before it is compared, like a check, because someone may know
 * the key of that check and guess its code.
 * @throws ApiError VERIFICATION_NOT_PENDING for any other check
 */
async function repeatApproval(
  { organizationId, id }: VerificationRecord,
  proof: string,
): Promise<VerificationCheck> {
  const { above } = whilePending(now());
  const counted = await updateItem(
    VerificationRecord,
    updateOf(
      keys.verification(organizationId, id),
      { add: { repeats: 1 } },
      { is: { status: "approved" }, above, ifPresent: { below: { repeats: maxRepeats } } },
    ),
  );
  if (!counted.applied || !isSame(counted.item.checkProof ?? "", proof)) {
    throw new ApiError("VERIFICATION_NOT_PENDING");
  }
  if (!isTestId(id)) await endCount(counted.item);
  return approvalOf(counted.item);
}

function approvalOf({ id, checks }: VerificationRecord): VerificationCheck {
  return { id, status: "approved", valid: true, checksLeft: maxChecks - checks };
}

function throwUnavailable(error: unknown): never {
  throw new ApiError("UNAVAILABLE", { cause: error });
}
