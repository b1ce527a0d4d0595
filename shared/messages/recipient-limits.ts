import { trafficClass } from "../carriers/traffic-class.ts";
import { dayMs, minuteMs, now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import type { RateLimit } from "../platform/limits/rate-limit.ts";
import { consume, refund, tryConsume } from "../platform/limits/sliding-window.ts";
import { log } from "../platform/log.ts";
import type { MessageRecord } from "./record.ts";

/*
 * The limit of one organization's messages to one number, separate for each class of traffic. The caller chooses the class,
 * so every class needs a limit. A message without a type counts as a one-time code, because most codes have no type. The
 * stage has the figures (`limits` in `infra/stages/README.md`); without a figure, nothing is counted.
 *
 * A message counts at the time at which it is to be sent. Messages that are due within the next window count together
 * with those that are sent now. Later windows begin at fixed times, and each has a count of its own.
 */

/** The fields that decide the limit of a message. */
type Classified = Pick<MessageRecord, "campaignId" | "messageType">;

/** Returns the limit of a message; undefined if the stage has none for its class. */
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
 * Accepts a message by `accept`, unless its number has reached the limit of its class.
 * @throws ApiError RECIPIENT_RATE_EXCEEDED, and the errors of `accept`: then the message is not counted
 */
export async function withinRecipientLimit<Accepted>(
  message: Classified & Pick<MessageRecord, "id" | "organizationId" | "scheduledAt" | "to">,
  accept: () => Promise<Accepted>,
): Promise<Accepted> {
  const own = limitOf(message);
  if (own === undefined) return accept();
  const { id: name, organizationId, scheduledAt, to } = message;
  const at = scheduledAt === undefined ? now() : new Date(scheduledAt);
  const isLater = at.getTime() - now().getTime() >= own.windowMs;
  const window = isLater ? ` ${Math.floor(at.getTime() / own.windowMs)}` : "";
  const use = await consume(own, `${subjectOf(organizationId, to)}${window}`, { name, at });
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
 * Counts a campaign's message against the limit of its number, as of the campaign's start. It counts once for each number,
 * however often a block of the campaign is repeated.
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
