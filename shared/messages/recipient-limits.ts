import { trafficClass } from "../carriers/traffic-class.ts";
import type { SendSmsRequest } from "../contract/sms.ts";
import { dayMs, minuteMs } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import type { RateLimit } from "../platform/limits/rate-limit.ts";
import { consume, refund, tryConsume } from "../platform/limits/sliding-window.ts";
import { log } from "../platform/log.ts";
import type { MessageRecord } from "./record.ts";

/*
 * How many messages one number may get of one organization, for each class of traffic apart: the caller chooses the class,
 * so none may be without a limit. A message of no type counts as a one-time code, for most codes do not say that they are
 * one. The stage has the figures (`limits` in `infra/stages/README.md`); where it has none, nothing is counted.
 */

/** What decides which limit a message is counted against. */
type Classified = Pick<MessageRecord, "campaignId" | "messageType">;

/** The limit that a message is counted against; undefined where the stage has none for its class. */
function limitOf(message: Classified): RateLimit | undefined {
  const isUntyped = message.messageType === undefined && message.campaignId === undefined;
  switch (isUntyped ? "otp" : trafficClass(message)) {
    case "otp":
      return limit("one-time-codes", config.oneTimeCodesPerNumber(), 10 * minuteMs);
    case "transactional":
      return limit("transactional-messages", config.transactionalMessagesPerNumber(), 10 * minuteMs);
    case "marketing":
      return limit("marketing-messages", config.marketingMessagesPerNumber(), dayMs);
  }
}

function limit(name: string, max: number | undefined, windowMs: number): RateLimit | undefined {
  return max === undefined ? undefined : { name, max, windowMs, code: "RECIPIENT_RATE_EXCEEDED" };
}

/**
 * Accepts a message by `accept`, unless its number has got as many of its class as it may get.
 * @throws ApiError RECIPIENT_RATE_EXCEEDED, and what `accept` throws: then the message is not counted
 */
export async function withinRecipientLimit<Accepted>(
  organizationId: string,
  message: Classified & Pick<SendSmsRequest, "to">,
  accept: () => Promise<Accepted>,
): Promise<Accepted> {
  const own = limitOf(message);
  if (own === undefined) return accept();
  const use = await consume(own, subjectOf(organizationId, message.to));
  try {
    return await accept();
  } catch (error) {
    await refund(use).catch((cause: unknown) => {
      log.warn("recipient_limit.not_refunded", { organizationId, error: cause });
    });
    throw error;
  }
}

/**
 * Counts a campaign's message against the limit of its number. The campaign is counted once for each number however often
 * a block of it is tried again, as of its start.
 * @returns whether the number may get it
 */
export async function countCampaignMessage(
  message: Pick<MessageRecord, "campaignId" | "messageType" | "organizationId" | "to">,
  startedAt: Date,
): Promise<boolean> {
  const own = limitOf(message);
  if (own === undefined) return true;
  const { organizationId, to, campaignId = "" } = message;
  const named = { at: startedAt, name: campaignId };
  const result = await tryConsume(own, subjectOf(organizationId, to), named);
  return !("waitMs" in result);
}

function subjectOf(organizationId: string, to: string): string {
  return `${organizationId} ${to}`;
}
