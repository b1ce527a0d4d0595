import { expect } from "vitest";

import type {
  StartVerificationRequest,
  Verification,
  VerificationCheck,
} from "../../shared/api/contract/verifications.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { rateCardCache } from "../../shared/money/prices/current.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { verificationFee } from "../../shared/money/prices/rate-card.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import type { Actor, KeyLimits } from "../../shared/platform/auth/actor.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import type { Attempt } from "../../shared/platform/http/event.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { checkVerification } from "../../shared/verifications/check.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { EndingJob } from "../../shared/verifications/ending-job.ts";
import { resendVerification, startVerification } from "../../shared/verifications/start.ts";
import { accept, only, ScriptedCarrier } from "./carriers.ts";
import { advance } from "./clock.ts";
import { takeJobs } from "./queues.ts";
import { inAllShards } from "./shards.ts";
import { ownerOf } from "./viewer.ts";
import { organizationOf } from "./wallets.ts";

export const number = "15005550007";
export const priceMicros = 7_900;
/** The balance with which the organizations of these tests begin. */
export const initialMicros = 1_000_000;

/** Returns the money that is gone from a wallet, which has to add up. */
export async function spentBy(organizationId: string): Promise<number> {
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
  return initialMicros - (await readWallet(organizationId)).balanceMicros;
}

/** Sets the price of a message, and the fee of a verification, to any number. */
export async function setFee(feeMicros: number): Promise<void> {
  const costMicros = { [verificationFee]: feeMicros };
  await publishRateCard([{ prefix: "1", priceMicros, costMicros }], await findCurrentVersion());
  rateCardCache.clear();
}

/** Returns an API key of an organization, as a caller. */
export function apiKeyOf(organizationId: string, others: { test?: true; limits?: KeyLimits } = {}): Actor {
  const credential = { type: "apiKey", keyId: "key_1", ...others } as const;
  return { organizationId, userId: "usr_1", scopes: ["send"], credential };
}

export async function startFor(
  organizationId: string,
  fields: Partial<StartVerificationRequest> = {},
  actor: Actor = apiKeyOf(organizationId),
): Promise<Verification> {
  const request = { to: number, profile: "default", channel: "sms", senderId: "ACME", ...fields } as const;
  return startVerification(await organizationOf(organizationId), request, { actor });
}

export async function resendFor(
  organizationId: string,
  id: string,
  attempt?: Attempt,
): Promise<Verification> {
  const organization = await organizationOf(organizationId);
  return resendVerification(organization, id, { actor: apiKeyOf(organizationId), attempt });
}

/** Sends the queued messages. @returns the texts that the carrier received */
export async function sentTexts(): Promise<string[]> {
  const carrier = new ScriptedCarrier(accept);
  for (const job of await takeJobs("transactionalSends")) {
    await submitMessage(MessageJob.parse(job), only(carrier));
  }
  return carrier.received.map(({ text }) => text);
}

/** Returns the code in a text. */
export function codeIn(text = ""): string {
  return /\b(?=[A-Z]*\d)[A-Z\d]{4,10}\b/.exec(text)?.[0] ?? "";
}

/** Works on the queued jobs that complete the ends of verifications. */
async function completeEndings(): Promise<void> {
  for (const job of await takeJobs("refunds")) await completeEnding(EndingJob.parse(job));
}

/** Checks a code for the owner of an organization. */
export async function checkFor(
  organizationId: string,
  fields: { id?: string; to?: string; code: string },
  idempotencyKey?: string,
): Promise<VerificationCheck> {
  const organization = await organizationOf(organizationId);
  const request = { profile: "default", ...fields };
  return checkVerification(organization, ownerOf(organizationId), request, idempotencyKey);
}

/** Lets the scheduler and the worker complete what has ended. */
export async function completeLater(afterMs = 17 * minuteMs): Promise<void> {
  advance(afterMs);
  await inAllShards(releaseScheduledJobs);
  await completeEndings();
}
