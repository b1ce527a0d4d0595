import type { SendSmsRequest } from "../../api/contract/sms.ts";
import { trafficClass } from "../../carriers/traffic-class.ts";
import { now, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { MessageRecord } from "./record.ts";

/**
 * The time that a message must at least have left to be submitted. AWS End User Messaging accepts no shorter `TimeToLive`.
 * With a longer one, a carrier could send the message after its expiry.
 */
const minValidityLeftMs = 5 * secondMs;

/**
 * Returns when a new message expires, counted from when it is due. A one-time code has the stage's default. Other messages
 * expire only if the request requires it.
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

/** Whether a message has too little time left to be submitted. */
export function isExpired(message: Expiring): boolean {
  return msUntilExpired(message) <= 0;
}

/** Returns how long a message may still be submitted, in whole seconds rounded up; infinite without an expiry. */
export function secondsUntilExpired(message: Expiring): number {
  return Math.ceil(Math.max(0, msUntilExpired(message)) / secondMs);
}

/** Returns how long a carrier may try to deliver a message that is submitted now, in whole seconds rounded down. */
export function validitySeconds({ validUntil: until }: Expiring): number | undefined {
  if (until === undefined) return undefined;
  return Math.floor(Math.max(minValidityLeftMs, Date.parse(until) - now().getTime()) / secondMs);
}

function msUntilExpired({ validUntil: until }: Expiring): number {
  return until === undefined ? Infinity : Date.parse(until) - minValidityLeftMs - now().getTime();
}
