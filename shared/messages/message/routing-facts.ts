import * as z from "zod/mini";

import { MessageType } from "../../api/contract/sms.ts";
import { trafficClass } from "../../carriers/traffic-class.ts";
import type { MessageRecord } from "./record.ts";

/**
 * The last digits of a number, which a job does not carry: queues keep jobs for days, and a number cannot be erased there.
 */
const hiddenDigits = 4;

/**
 * The fields that decide a message's carrier. The job has them if the message is due immediately and has no attempts. Its
 * sender then chooses a carrier and acquires the message without reading it before.
 */
export const RoutingFacts = z.object({
  /** The number without its last digits. Routes and prices may depend on these too: see `acquireByFacts`. */
  numberPrefix: z.string(),
  senderId: z.string(),
  messageType: z.optional(MessageType),
  segments: z.int().check(z.positive()),
  totalMicros: z.int().check(z.nonnegative()),
  validUntil: z.optional(z.string()),
});
export type RoutingFacts = z.infer<typeof RoutingFacts>;

/**
 * The facts of a message; undefined for one with attempts, a schedule, possible opt-outs or a number as its sender, which is
 * read first.
 */
export function routingFactsOf(message: MessageRecord): RoutingFacts | undefined {
  const { attempts, scheduledAt, to, senderId, from, messageType, segments, totalMicros, validUntil } =
    message;
  if (attempts > 0 || scheduledAt !== undefined || from !== undefined) return undefined;
  if (trafficClass(message) === "marketing") return undefined;
  const numberPrefix = to.slice(0, -hiddenDigits);
  return { numberPrefix, senderId, messageType, segments, totalMicros, validUntil };
}

/** Whether a message that was acquired for the first time matches the facts. */
export function areFactsOf(facts: RoutingFacts, leased: MessageRecord): boolean {
  const found = routingFactsOf({ ...leased, attempts: 0 });
  const isSame = (field: keyof RoutingFacts): boolean => facts[field] === found?.[field];
  return found !== undefined && z.keyof(RoutingFacts).options.every(isSame);
}
