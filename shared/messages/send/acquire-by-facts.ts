import { blockedPrefixes, isBlocked } from "../../money/prices/blocked-destinations.ts";
import type { OrganizationState } from "../../tenancy/organizations/record.ts";
import { isSenderRejected, mayBeUnwanted } from "../accept/policies.ts";
import { effectsOf } from "../message/effects.ts";
import type { MessageJob } from "../message/message-job.ts";
import { areFactsOf, type RoutingFacts } from "../message/routing-facts.ts";
import { release } from "../message/transitions.ts";
import { isExpired } from "../message/validity.ts";
import { acquireNewMessage, type Acquired, type Decision } from "./acquire-message.ts";
import { candidatesFor, chooseCarrier, type Choosable, type Choice, type Sender } from "./choose-carrier.ts";
import { applyToLeased } from "./submission.ts";

/*
 * Most messages are due immediately, are acquired once, and no rule stops them. Their jobs carry the routing facts, and the
 * write that acquires the lease returns the message, so that it is not read before.
 *
 * A job is not trusted. The lease is acquired only for a message that no sender has acquired before. Such a message has no
 * unresolved attempt and no rejection to consider. The message is compared with the facts before it is submitted. If it
 * differs, it is released, and its sender continues as if the job had no facts. A message has to be read first if its whole
 * number must be looked up, or if it would fail.
 */

/**
 * Chooses a carrier by the facts of a job.
 * @returns undefined when the message has to be read first
 */
export async function chooseByFacts(
  job: MessageJob,
  sender: Sender,
  { isSuspended, isPaused, mayHaveReplies }: OrganizationState,
): Promise<Choice | undefined> {
  const { facts, organizationId, messageId } = job;
  if (facts === undefined || isSuspended || isPaused || sender.sending?.pausedAt !== undefined)
    return undefined;
  if (isExpired(facts) || mayBeUnwanted(facts, mayHaveReplies)) return undefined;
  const { hasLiveRules } = effectsOf({ id: messageId });
  if (hasLiveRules) {
    if (await isSenderRejected({ organizationId, senderId: facts.senderId })) return undefined;
    const blocked = await blockedPrefixes(organizationId);
    // Blocked prefixes may have some of the digits that the job does not carry.
    const { numberPrefix } = facts;
    if (isBlocked(numberPrefix, blocked) || blocked.some((prefix) => prefix.startsWith(numberPrefix)))
      return undefined;
  }
  const choice = await chooseCarrier(choosable(job, facts), sender, job.reservedStart);
  return choice.kind === "fail" ? undefined : choice;
}

/** Returns a message that no sender has acquired, with the fields that its job has. */
function choosable(
  { organizationId, messageId }: MessageJob,
  { numberPrefix, messageType, segments, totalMicros }: RoutingFacts,
): Choosable {
  return {
    id: messageId,
    organizationId,
    to: numberPrefix,
    messageType,
    segments,
    totalMicros,
    unresolvedAttempts: 0,
  };
}

/**
 * Acquires a message for a carrier that was chosen by the facts of its job.
 * @throws Error when a message that differs from the facts could not be released
 */
export async function acquireByFacts(job: MessageJob, sender: Sender, choice: Decision): Promise<Acquired> {
  const { facts, organizationId, messageId } = job;
  const acquired = await acquireNewMessage({ organizationId, id: messageId }, choice);
  if (acquired.leased === undefined || facts === undefined) return acquired;
  const { leased } = acquired;
  if (areFactsOf(facts, leased) && hasSameCandidates(choosable(job, facts), leased, sender)) return acquired;
  // It was not submitted to any carrier.
  return { found: await applyToLeased(release(leased), leased) };
}

/** Whether the complete number leads to the same carriers as the digits in the job. */
function hasSameCandidates(one: Choosable, other: Choosable, sender: Sender): boolean {
  const namesOf = (message: Choosable): string => candidatesFor(message, sender).join(" ");
  return namesOf(one) === namesOf(other);
}
