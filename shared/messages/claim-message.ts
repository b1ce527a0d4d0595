import { randomUUID } from "node:crypto";

import { minuteMs, now } from "../platform/clock.ts";
import { updateItem } from "../platform/table/table.ts";
import { withAttempt } from "./attempts.ts";
import type { Choice, Sender } from "./choose-carrier.ts";
import { claim, messageKey, MessageRecord, type Claim } from "./record.ts";

/**
 * Longer than a sender can run, so that a claim lapses only when its sender is surely gone; shorter than the
 * queue hides a job, so that it has lapsed when the job comes again.
 */
export const claimLeaseMs = minuteMs;

/** A choice that needs the message to be held. */
export type Decision = Exclude<Choice, { kind: "wait" }>;

/**
 * Claims a message for what was chosen.
 * @returns the message as it is held now, or as it is since it has ended meanwhile
 * @throws Error when another sender holds it, or it was chosen by what has changed since
 */
export async function claimFor(
  message: MessageRecord,
  { carriers }: Sender,
  choice: Decision,
): Promise<MessageRecord> {
  const at = now();
  const token = randomUUID();
  const carrier = choice.kind === "ask" ? choice.named.name : undefined;
  const isStageCarrier = carrier !== undefined && carriers.named(undefined)?.name === carrier;
  const until = new Date(at.getTime() + claimLeaseMs);
  const claimed = await updateItem(
    MessageRecord,
    claim(messageKey(message), {
      token,
      at,
      until,
      carrier,
      isStageCarrier,
      lapsed: lapsedClaim(message, at),
    }),
    { isOwn: ({ claimToken }) => claimToken === token },
  );
  if (claimed.applied) return claimed.item;
  const found = MessageRecord.parse(claimed.found);
  if (found.status === "queued") throw new Error("another sender holds this message");
  return found;
}

/** The claim of a sender that ended without a word on what its carrier did, and the attempts with that one. */
function lapsedClaim(message: MessageRecord, at: Date): Claim["lapsed"] {
  const { openClaims, carrier, claimedUntil } = message;
  if (openClaims === 0 || carrier === undefined || claimedUntil === undefined) return undefined;
  if (claimedUntil >= at.toISOString()) return undefined;
  const askedAt = new Date(Date.parse(claimedUntil) - claimLeaseMs).toISOString();
  const { attemptLog } = withAttempt(message, { at: askedAt, carrier, outcome: "unknown" });
  return { claimedUntil, attemptLog };
}
