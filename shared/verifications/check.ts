import { ApiError } from "../api/contract/errors.ts";
import { typedCode } from "../api/contract/plain-text.ts";
import type { CheckVerificationRequest, VerificationCheck } from "../api/contract/verifications.ts";
import { codeOf } from "../messages/message/verification-code.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { isSame } from "../platform/auth/is-same.ts";
import { now } from "../platform/clock.ts";
import { isTestId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import type { OrganizationRecord } from "../tenancy/organizations/record.ts";
import { countCheck } from "./checks-of-day.ts";
import { endNow } from "./end.ts";
import {
  isPending,
  maxChecks,
  pointerKey,
  VerificationRecord,
  VerifyingRecord,
  whilePending,
} from "./record.ts";

/**
 * Checks a code as people type it. Words beside its digits, such as those of its message, do not count. Each check is counted
 * before the code is compared, so that parallel guesses never exceed the maximum. Only one check approves a verification. The one
 * after the last fails it.
 * @throws ApiError VERIFICATION_NOT_PENDING also for a verification that does not exist, TOO_MANY_CHECKS of it or of its number;
 *   UNAVAILABLE without the key of the code
 */
export async function checkVerification(
  organization: Pick<OrganizationRecord, "webhookCount">,
  viewer: Viewer,
  { id: givenId, to = "", profile, code }: CheckVerificationRequest,
): Promise<VerificationCheck> {
  const { organizationId, isTest } = viewer;
  // A caller with a code of its own gives the id. By number, a code that another key made must not count.
  const pointer = pointerKey({ organizationId, profile, to, isTest, isOwn: false });
  const id = givenId ?? (await findItem(VerifyingRecord, pointer, { consistent: true }))?.verificationId;
  if (id === undefined || isTestId(id) !== isTest) throw new ApiError("VERIFICATION_NOT_PENDING");
  const { above, is } = whilePending(now());
  const key = keys.verification(organizationId, id);
  const counted = await updateItem(
    VerificationRecord,
    updateOf(key, { add: { checks: 1 } }, { is, above, below: { checks: maxChecks } }),
  );
  if (!counted.applied) {
    const found = counted.found === undefined ? undefined : VerificationRecord.parse(counted.found);
    if (found === undefined || !isPending(found)) throw new ApiError("VERIFICATION_NOT_PENDING");
    await endNow(organization, found, "failed");
    throw new ApiError("TOO_MANY_CHECKS");
  }
  const record = counted.item;
  if (!isTest) await countCheck(record);
  const checksLeft = maxChecks - record.checks;
  const expected = await codeOf(id, record.code).catch((error: unknown) => {
    throw new ApiError("UNAVAILABLE", { cause: error });
  });
  if (!isSame(typedCode(code, /^\d+$/.test(expected)), typedCode(expected))) {
    return { id, status: "pending", valid: false, checksLeft };
  }
  await endNow(organization, record, "approved");
  return { id, status: "approved", valid: true, checksLeft };
}
