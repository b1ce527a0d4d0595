import { trafficClass } from "../carriers/traffic-class.ts";
import type { SendSmsRequest } from "../contract/sms.ts";
import { now, secondMs } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import type { MessageRecord } from "./record.ts";

/**
 * The least time that a message must have left to be handed to a carrier: AWS End User Messaging takes no shorter
 * `TimeToLive`, and a carrier that was given more could send the message after its expiry.
 */
const minValidityLeftMs = 5 * secondMs;

/**
 * When a new message expires: so long after it is due. A one-time code has the stage's default, other messages expire only
 * where the request says so.
 * @returns ISO 8601, or undefined for a message that does not expire
 */
export function validUntil(
  request: Pick<SendSmsRequest, "expiresInSeconds" | "messageType" | "scheduledAt"> & {
    readonly campaignId?: string | undefined;
  },
  queuedAt: Date,
): string | undefined {
  const { scheduledAt, expiresInSeconds } = request;
  const isCode = trafficClass(request) === "otp";
  const seconds = expiresInSeconds ?? (isCode ? config.oneTimeCodeValiditySeconds() : undefined);
  if (seconds === undefined) return undefined;
  const dueAtMs = scheduledAt === undefined ? queuedAt.getTime() : Date.parse(scheduledAt);
  return new Date(dueAtMs + seconds * secondMs).toISOString();
}

type Expiring = Pick<MessageRecord, "validUntil">;

/** Whether a message has too little time left to be handed to a carrier. */
export function isExpired(message: Expiring): boolean {
  return msUntilExpired(message) <= 0;
}

/** How long a message may still be handed to a carrier, in whole seconds rounded up; without an expiry for ever. */
export function secondsUntilExpired(message: Expiring): number {
  return Math.ceil(Math.max(0, msUntilExpired(message)) / secondMs);
}

/** How long a carrier may try to deliver a message that is handed to it now, in whole seconds rounded down. */
export function validitySeconds({ validUntil: until }: Expiring): number | undefined {
  if (until === undefined) return undefined;
  return Math.floor(Math.max(minValidityLeftMs, Date.parse(until) - now().getTime()) / secondMs);
}

function msUntilExpired({ validUntil: until }: Expiring): number {
  return until === undefined ? Infinity : Date.parse(until) - minValidityLeftMs - now().getTime();
}
