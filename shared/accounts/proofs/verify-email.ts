import type { VerifiedEmail, VerifyEmailRequest } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import { networkOf } from "../../platform/source-network.ts";
import { entryOfUser } from "../../platform/table/audit-log.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact } from "../../platform/table/transact.ts";
import { updateOf } from "../../platform/table/write.ts";
import { listVerified, verifiedSince } from "../organizations/verification.ts";
import { rememberNetwork } from "../passwords/known-networks.ts";
import { checkPassword } from "../passwords/tries.ts";
import { readProof } from "./proof.ts";

/**
 * Records that an email belongs to its user, who has opened the link there and knows the password. The link alone is no
 * proof: a stranger who registered with the address may have requested it, and keeps the password. With both, the person
 * is the one who registered, so that their sessions, API keys and webhooks stay.
 * @throws ApiError INVALID_EMAIL_TOKEN; INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords; UNAVAILABLE
 */
export async function verifyEmail(
  { token, password }: VerifyEmailRequest,
  sourceIp: string,
): Promise<VerifiedEmail> {
  const { use, user } = await readProof("verify", token);
  const { id: userId, email } = user;
  await checkPassword({ userId }, password, sourceIp).catch(adviseStranger);
  // The network of the registration may be a stranger's.
  await rememberNetwork(email, networkOf(sourceIp));
  const at = now().toISOString();
  const { outcome } = await transact({
    use,
    user: updateOf(keys.user(userId), verifiedSince(at), { present: ["pk"], absent: ["removedAt"] }),
    rights: listVerified(user),
    audit: entryOfUser("POST /v1/auth/verify-email", user, sourceIp),
  });
  if (outcome === "rejected") throw new ApiError("INVALID_EMAIL_TOKEN");
  return { email, verified: true };
}

function adviseStranger(error: unknown): never {
  if (!(error instanceof ApiError && error.code === "INVALID_CREDENTIALS")) throw error;
  throw new ApiError("INVALID_CREDENTIALS", {
    message:
      "The password is not that of the account. If another person registered with your email, reset the password: that " +
      "makes the account yours, with an empty organization.",
  });
}
