import { minuteMs, now } from "../platform/clock.ts";
import { hasLease, isFree, newLease } from "../platform/table/lease.ts";
import { updateItem, type Outcome } from "../platform/table/table.ts";
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
  sender: Sender,
  choice: Decision,
): Promise<MessageRecord> {
  const at = now();
  const claimed = await applyClaim(message, sender, choice, { at, lapsed: lapsedClaim(message, at) });
  if (claimed.applied) return claimed.item;
  const found = MessageRecord.parse(claimed.found);
  if (found.status === "queued") throw heldByOther();
  return found;
}

/**
 * Claims a message that nobody has read, for what was chosen. It passes only where nobody has taken the message up before.
 * @returns the message as it is held now, or as it was found
 * @throws Error when another sender holds it
 */
export async function claimUntouched(
  message: Pick<MessageRecord, "id" | "organizationId">,
  sender: Sender,
  choice: Decision,
): Promise<ClaimByFacts> {
  const at = now();
  const claimed = await applyClaim(message, sender, choice, { at, isFirst: true });
  if (claimed.applied) return { held: claimed.item };
  const found = claimed.found && MessageRecord.parse(claimed.found);
  if (found?.status === "queued" && !isFree(found, at)) throw heldByOther();
  return { found };
}

/** A message that is held for what was chosen, or one that is not, as far as it is known. */
export type ClaimByFacts =
  | { readonly held: MessageRecord }
  | { readonly held?: undefined; readonly found: MessageRecord | undefined };

function heldByOther(): Error {
  return new Error("another sender holds this message");
}

async function applyClaim(
  message: Pick<MessageRecord, "id" | "organizationId">,
  { carriers }: Sender,
  choice: Decision,
  { at, ...seen }: Pick<Claim, "at" | "isFirst" | "lapsed">,
): Promise<Outcome<MessageRecord>> {
  const lease = newLease(at, claimLeaseMs);
  const carrier = choice.kind === "ask" ? choice.named.name : undefined;
  const isStageCarrier = carrier !== undefined && carriers.named(undefined)?.name === carrier;
  return updateItem(
    MessageRecord,
    claim(messageKey(message), { lease, at, carrier, isStageCarrier, ...seen }),
    { isOwn: hasLease(lease) },
  );
}

/** The claim of a sender that ended without a word on what its carrier did, and the attempts with that one. */
function lapsedClaim(message: MessageRecord, at: Date): Claim["lapsed"] {
  const { openClaims, carrier, leaseUntil } = message;
  if (openClaims === 0 || carrier === undefined || leaseUntil === undefined) return undefined;
  if (!isFree(message, at)) return undefined;
  const askedAt = new Date(Date.parse(leaseUntil) - claimLeaseMs).toISOString();
  const { attemptLog } = withAttempt(message, { at: askedAt, carrier, outcome: "unknown" });
  return { leaseUntil, attemptLog };
}
