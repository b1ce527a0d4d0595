import { trafficClass } from "../../carriers/traffic-class.ts";
import { dayMs, minuteMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { limitReached, type RateLimit } from "../../platform/limits/rate-limit.ts";
import { refund, tryConsume, type Use } from "../../platform/limits/sliding-window.ts";
import type { MessageRecord } from "../message/record.ts";
import type { Reservation } from "./reservations.ts";

/*
 * The limit of one organization's messages to one number, separate for each class of traffic. The caller chooses the class,
 * so every class needs a limit. A message without a type counts as a one-time code, because most codes have no type. The
 * stage has the figures (`limits` in `infra/stack/stages/README.md`); without a figure, nothing is counted.
 *
 * A message counts at the time at which it is to be sent, and a campaign's message at the start of the campaign. Windows begin
 * at fixed times, and each has a count of its own. Each use has a name in its window. A repeat, after an attempt that died or
 * was paused, has the same name, so it counts once.
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

/** The fields of a message that is counted against the limit of its number. */
type Counted = Classified & Pick<MessageRecord, "id" | "organizationId" | "scheduledAt" | "to">;

/**
 * Counts a message against the limit of its number. A message that is not accepted does not count.
 * @param name what the message is, for repeats after an attempt that died; by default its id
 * @throws ApiError RECIPIENT_RATE_EXCEEDED
 */
export async function reserveRecipient(message: Counted, name = message.id): Promise<readonly Reservation[]> {
  const own = limitOf(message);
  if (own === undefined) return [];
  const { scheduledAt } = message;
  const use = await count(own, message, name, scheduledAt === undefined ? now() : new Date(scheduledAt));
  if ("waitMs" in use) throw limitReached(own, use.waitMs);
  return [{ staysInDoubt: false, release: async () => refund(use) }];
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
  return !("waitMs" in (await count(own, message, message.campaignId ?? "", startedAt)));
}

/** Counts a message in the window of its time, or returns the time until that window ends. */
async function count(
  own: RateLimit,
  { organizationId, to }: Pick<MessageRecord, "organizationId" | "to">,
  name: string,
  time: Date,
): Promise<Use | { readonly waitMs: number }> {
  const window = Math.floor(time.getTime() / own.windowMs);
  const end = new Date((window + 1) * own.windowMs);
  // All uses of a window have the same time, so that the name alone distinguishes them.
  const result = await tryConsume(own, `${organizationId} ${to} ${window}`, { name, at: end });
  return "waitMs" in result ? { waitMs: end.getTime() - now().getTime() } : result;
}
