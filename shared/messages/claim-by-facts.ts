import type { OrganizationState } from "../accounts/organization-record.ts";
import { candidatesFor, chooseCarrier, type Choosable, type Choice, type Sender } from "./choose-carrier.ts";
import { claimUntouched, type ClaimByFacts, type Decision } from "./claim-message.ts";
import type { MessageJob } from "./message-job.ts";
import { isSenderIdRefused, mayBeUnwanted } from "./policies.ts";
import { release } from "./record.ts";
import { areFactsOf, type RoutingFacts } from "./routing-facts.ts";
import { applyToHeld } from "./submission.ts";
import { isExpired } from "./validity.ts";

/*
 * Most messages are taken up once, at once, and nothing stands against them. Their jobs carry what a carrier is chosen
 * by, and the claim returns the message, so that it is not read before.
 *
 * Nothing is trusted to a job. The claim passes only for a message that no sender has taken up before, which therefore has
 * no open claim, refusal or attempt to take into account. The message that it returns is compared with the facts before a
 * carrier is asked; where it differs it is released, and its sender goes on as if the job had carried none. What has to be
 * looked up by the number, which a job does not carry, or fails a message, is left to those who have read the message.
 */

/**
 * Chooses a carrier by the facts of a job.
 * @returns undefined when the message has to be read first
 */
export async function chooseByFacts(
  job: MessageJob,
  sender: Sender,
  { isSuspended, mayHaveReplies }: OrganizationState,
): Promise<Choice | undefined> {
  const { facts, organizationId } = job;
  if (facts === undefined || isSuspended || sender.sending?.pausedAt !== undefined) return undefined;
  if (isExpired(facts) || mayBeUnwanted(facts, mayHaveReplies)) return undefined;
  if (await isSenderIdRefused({ organizationId, senderId: facts.senderId })) return undefined;
  const choice = await chooseCarrier(choosable(job, facts), sender, job.slot);
  return choice.kind === "fail" ? undefined : choice;
}

/** A message that no sender has taken up, as far as its job describes it. */
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
    openClaims: 0,
  };
}

/**
 * Claims a message for a carrier that was chosen by the facts of its job.
 * @throws Error when the claim of a message that differs from the facts could not be released
 */
export async function claimByFacts(job: MessageJob, sender: Sender, choice: Decision): Promise<ClaimByFacts> {
  const { facts, organizationId, messageId } = job;
  const claimed = await claimUntouched({ organizationId, id: messageId }, sender, choice);
  if (claimed.held === undefined || facts === undefined) return claimed;
  const { held } = claimed;
  if (areFactsOf(facts, held) && hasSameCandidates(choosable(job, facts), held, sender)) return claimed;
  // No carrier was asked.
  return { found: await applyToHeld(release(held), held) };
}

/** Whether the digits that the job does not carry lead to the same carriers. */
function hasSameCandidates(one: Choosable, other: Choosable, sender: Sender): boolean {
  const namesOf = (message: Choosable): string => candidatesFor(message, sender).join(" ");
  return namesOf(one) === namesOf(other);
}
