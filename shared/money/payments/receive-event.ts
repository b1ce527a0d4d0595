import { ApiError } from "../../api/contract/errors.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { noticeJob } from "./payment-job.ts";
import { withProvider } from "./providers.ts";

/** More than any event of a provider has. */
const maxEventBytes = 512 * 1024;

/**
 * Accepts an event of the payment provider. Only its signature and the payment's id are used: the state is read at the
 * provider, so repeated, late and reordered events do no harm.
 * @throws ApiError INVALID_SIGNATURE, PAYLOAD_TOO_LARGE; PAYMENT_PROVIDER_UNAVAILABLE, after which the provider repeats it
 */
export async function receiveEvent(
  rawBody: string,
  signature: string | undefined,
): Promise<{ received: true }> {
  if (Buffer.byteLength(rawBody) > maxEventBytes) throw new ApiError("PAYLOAD_TOO_LARGE");
  if (signature === undefined) throw new ApiError("INVALID_SIGNATURE");
  const notice = await withProvider(async (provider) => provider.readEvent(rawBody, signature));
  if (notice === "unsigned") throw new ApiError("INVALID_SIGNATURE");
  const job = notice === undefined ? undefined : noticeJob(notice);
  if (job !== undefined) await enqueue(job);
  return { received: true };
}
