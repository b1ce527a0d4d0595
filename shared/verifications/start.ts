import { ApiError } from "../api/contract/errors.ts";
import type { StartVerificationRequest, Verification } from "../api/contract/verifications.ts";
import type { AcceptOptions } from "../messages/accept/accept-one.ts";
import { checkKeyLimits } from "../messages/accept/key-limits.ts";
import { newCode } from "../messages/message/verification-code.ts";
import { eventJob } from "../notices/event-job.ts";
import { limitsOf, viewerOf } from "../platform/auth/actor.ts";
import { dayMs, epochSeconds, minuteMs, now, secondMs } from "../platform/clock.ts";
import { momentOf, newId, newTestId } from "../platform/ids.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { tryConsume } from "../platform/limits/sliding-window.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";
import { transact } from "../platform/table/transact.ts";
import { insertOf, putItem, putOf, type Write } from "../platform/table/write.ts";
import type { OrganizationRecord } from "../tenancy/organizations/record.ts";
import { blockedByChecks } from "./checks-of-day.ts";
import { endNow, eventOf } from "./end.ts";
import { owedEnding } from "./ending-job.ts";
import { guardStart, noteUnaccepted, noteUndelivered } from "./guard/guard.ts";
import { findProfile } from "./profiles.ts";
import {
  checksBefore,
  findVerification,
  isPending,
  maxChecks,
  maxSends,
  pointerKey,
  readToChange,
  toApiVerification,
  VerifyingRecord,
  type VerificationRecord,
} from "./record.ts";
import { sendAgain, sendCode, type RepeatChanges } from "./send.ts";
import { verificationText } from "./texts.ts";

const retentionMs = 30 * dayMs;

/** How often a start is tried while other calls change the verification of the number. */
const startAttempts = 3;

/**
 * Starts the verification of a number, or sends the code of the pending one again. A repeat that comes too early returns the
 * pending one as it is. One transaction has the message, its ledger entries, the verification, and the pointer to it, so two
 * starts at the same time make one verification.
 * @throws ApiError NOT_FOUND for an unknown profile, VERIFICATION_BLOCKED, TOO_MANY_SENDS, and the errors of `acceptMessage`
 */
export async function startVerification(
  organization: OrganizationRecord,
  request: StartVerificationRequest,
  options: AcceptOptions = {},
): Promise<Verification> {
  const limits = limitsOf(options.actor);
  if (limits !== undefined) checkKeyLimits(limits, request.to, now());
  const isTest = options.actor !== undefined && viewerOf(options.actor).isTest;
  const key = pointerKey({
    organizationId: organization.id,
    ...request,
    isTest,
    isOwn: request.code !== undefined,
  });
  for (let attempt = 1; ; attempt += 1) {
    const pointer = await findItem(VerifyingRecord, key, { consistent: true });
    const last = pointer && (await findVerification(organization.id, pointer.verificationId));
    try {
      if (last !== undefined && isPending(last) && last.checks < maxChecks) {
        return await repeat(organization, request, last, options);
      }
      // Its code cannot be checked any more.
      const hasFailed = last !== undefined && isPending(last);
      const ended = hasFailed ? await endNow(organization, last, "failed") : last;
      requireWait(ended);
      const place = { key, isTest, last: pointer?.verificationId };
      return await begin(organization, request, place, options);
    } catch (error) {
      if (attempt === startAttempts || !isDisturbed(error, isTest)) throw error;
    }
  }
}

/** @throws ApiError TOO_MANY_SENDS directly after one that failed or was cancelled: its end does not shorten the wait */
function requireWait(last: VerificationRecord | undefined): void {
  if (last?.status !== "failed" && last?.status !== "cancelled") return;
  const retryAfterSeconds = secondsUntil(last.nextSendAt);
  if (retryAfterSeconds > 0) throw new ApiError("TOO_MANY_SENDS", { retryAfterSeconds });
}

/** Whether nothing was sent and charged, because another call came first. */
function isDisturbed(error: unknown, isTest: boolean): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.code === "VERIFICATION_NOT_PENDING") return true;
  if (error.code !== "UNAVAILABLE") return false;
  return isTest || error.facts.isUncharged === true;
}

/** The place of a new verification. */
interface Place {
  readonly key: ReturnType<typeof pointerKey>;
  readonly isTest: boolean;
  /** The last verification of the number, which has ended. */
  readonly last: string | undefined;
}

async function begin(
  organization: OrganizationRecord,
  request: StartVerificationRequest,
  { key, isTest, last }: Place,
  options: AcceptOptions,
): Promise<Verification> {
  const profile = await findProfile(organization.id, request.profile);
  const at = now();
  const { to, ip, deviceId, metadata } = request;
  const organizationId = organization.id;
  const id = isTest ? newTestId("ver") : newId("ver");
  const { text, locale } = verificationText(profile, request);
  const validUntil = new Date(at.getTime() + profile.validitySeconds * secondMs).toISOString();
  const expiresAt = epochSeconds(new Date(at.getTime() + retentionMs));
  const code = await newCode(id, { own: request.code, length: profile.codeLength });
  const draft: VerificationRecord = {
    entity: "verification",
    id,
    organizationId,
    status: "pending",
    to,
    profile: request.profile,
    locale,
    checks: checksBefore(code),
    sends: 0,
    validUntil,
    createdAt: at.toISOString(),
    text,
    senderId: request.senderId ?? profile.senderId,
    code,
    metadata,
    messageMicros: 0,
    feeMicros: 0,
    messageIds: [],
    expiresAt,
  };
  // Later the guard knows the time of the start from the id.
  const guarded = { id, organizationId, to, startedAt: momentOf(id), profile, ip, deviceId };
  const decision = isTest
    ? ({ outcome: "allowed" } as const)
    : ((await blockedByChecks(guarded)) ?? (await guardStart(guarded)));
  const verification = { ...draft, ...("rule" in decision ? { guardRule: decision.rule } : {}) };
  if (decision.outcome === "blocked") {
    await noteBlocked(organization, { ...verification, status: "blocked" });
    throw new ApiError("VERIFICATION_BLOCKED", { retryAfterSeconds: decision.retryAfterSeconds });
  }
  const pointer = { entity: "verifying", verificationId: id, validUntil, expiresAt } as const;
  const isFree = { atMost: { validUntil: at.toISOString() } };
  const isEnded = last === undefined ? [] : [{ is: { verificationId: last } }];
  const record = (started: VerificationRecord): Write[] => [
    insertOf(keys.verification(organizationId, id), started),
    putOf(key, pointer, { anyOf: [{ absent: ["pk"] }, isFree, ...isEnded] }),
    owedEnding(started),
  ];
  try {
    return toApiVerification(await sendCode(organization, verification, record, options));
  } catch (error) {
    const mayBeAccepted = error instanceof ApiError && error.facts.mayBeAccepted === true;
    const note = mayBeAccepted ? noteUndelivered : noteUnaccepted;
    if (!isTest) await note(guarded);
    throw error;
  }
}

/** At most one blocked verification is kept of a number and time, so that an attacker does not fill the table. */
const notedBlocks = { name: "blocked-verification", max: 1, windowMs: 10 * minuteMs };

/** Keeps a blocked verification for the customer. The response does not depend on it. */
async function noteBlocked(
  { id: organizationId, webhookCount }: OrganizationRecord,
  blocked: VerificationRecord,
): Promise<void> {
  const event = webhookCount > 0 ? eventOf(blocked) : undefined;
  try {
    if ("waitMs" in (await tryConsume(notedBlocks, `${organizationId} ${blocked.to}`))) return;
    await putItem(putOf(keys.verification(organizationId, blocked.id), blocked));
    if (event !== undefined) await enqueue(eventJob(organizationId, event));
  } catch (error) {
    log.warn("verification.block_not_noted", { organizationId, error });
  }
}

/**
 * Sends the code of a pending verification again, once that is allowed, in the language of the request. A code of the caller's
 * own replaces the one before. Whether both are the same shows nowhere: it would be a guess that does not count.
 */
async function repeat(
  organization: OrganizationRecord,
  request: StartVerificationRequest,
  pending: VerificationRecord,
  options: AcceptOptions,
): Promise<Verification> {
  const { nextSendAt, sends } = pending;
  const { code: callerCode } = request;
  if (callerCode !== undefined || sends === maxSends || secondsUntil(nextSendAt) === 0) {
    const changes = await changesOf(organization.id, request, pending);
    return toApiVerification(await sendAgain(organization, pending, options, changes));
  }
  const verification = toApiVerification(pending);
  if (options.attempt !== undefined) await transact({ response: options.attempt.complete(verification) });
  return verification;
}

/**
 * Returns what a repeat changes: the language of its text, and the code if the caller has one. That is as long valid as a new
 * one. A verification whose profile was deleted keeps its text.
 */
async function changesOf(
  organizationId: string,
  request: StartVerificationRequest,
  { id, checks }: VerificationRecord,
): Promise<RepeatChanges> {
  const { code: callerCode, locale, profile: name } = request;
  if (callerCode === undefined && locale === undefined) return {};
  const profile = await findProfile(organizationId, name).catch((error: unknown) => {
    if (callerCode === undefined && error instanceof ApiError && error.code === "NOT_FOUND") return undefined;
    throw error;
  });
  if (profile === undefined) return {};
  const text = locale === undefined ? {} : verificationText(profile, request);
  if (callerCode === undefined) return text;
  const validUntil = new Date(now().getTime() + profile.validitySeconds * secondMs).toISOString();
  const code = await newCode(id, { own: callerCode, length: callerCode.length });
  return { ...text, code, validUntil, checks: Math.max(checks, checksBefore(code)) };
}

/**
 * Sends the code of a pending verification again.
 * @throws ApiError NOT_FOUND, VERIFICATION_NOT_PENDING, TOO_MANY_CHECKS, TOO_MANY_SENDS, and the errors of `acceptMessage`
 */
export async function resendVerification(
  organization: OrganizationRecord,
  verificationId: string,
  options: AcceptOptions & Required<Pick<AcceptOptions, "actor">>,
): Promise<Verification> {
  for (let attempt = 1; ; attempt += 1) {
    const viewer = viewerOf(options.actor);
    const pending = await readToChange(viewer, verificationId);
    if (!isPending(pending)) throw new ApiError("VERIFICATION_NOT_PENDING");
    try {
      return toApiVerification(await sendAgain(organization, pending, options));
    } catch (error) {
      if (attempt === startAttempts || !isDisturbed(error, viewer.isTest)) throw error;
    }
  }
}
