import type { SendSmsRequest } from "../contract/sms.ts";
import { minuteMs } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { countTry, forgetTry } from "../platform/http/rate-limit.ts";
import { log } from "../platform/log.ts";

const windowMs = 10 * minuteMs;

/**
 * Accepts a message by `accept`, if it is no one-time code too many: somebody who makes a customer's form ask for codes
 * again and again costs the customer money, and whoever gets them their peace. A message of no type counts, for most codes
 * do not say that they are one.
 * @throws ApiError RECIPIENT_RATE_EXCEEDED, and what `accept` throws: then the code is not counted
 */
export async function withinCodeLimit<Accepted>(
  organizationId: string,
  { to, messageType = "otp" }: Pick<SendSmsRequest, "messageType" | "to">,
  accept: () => Promise<Accepted>,
): Promise<Accepted> {
  const max = config.oneTimeCodesPerNumber();
  if (max === undefined || messageType !== "otp") return accept();
  const limit = { what: "one-time-codes", max, windowMs, code: "RECIPIENT_RATE_EXCEEDED" } as const;
  const counted = await countTry(limit, `${organizationId} ${to}`);
  try {
    return await accept();
  } catch (error) {
    await forgetTry(counted).catch((cause: unknown) => {
      log.warn("one_time_code.not_forgotten", { organizationId, error: cause });
    });
    throw error;
  }
}
