import { createHash, randomBytes, randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { typedCode } from "../../api/contract/plain-text.ts";
import { sealText, unsealText } from "../../platform/auth/sealed-text.ts";
import { noteSealingKey } from "../../platform/auth/sealing-key-record.ts";
import { Secret } from "../../platform/auth/secret.ts";
import { base32Of, stepOfTotpCode } from "../../platform/auth/totp.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { deleteOf, putItem, putOf, updateItem, updateOf, type Write } from "../../platform/table/write.ts";

/*
 * The second factor of a user. It has the secret for the codes of their app, sealed with a key of the stage, and the
 * hashes of the recovery codes. It counts once a code has shown that the app has the secret.
 */

export const SecondFactorRecord = z.object({
  entity: z.literal("secondFactor"),
  userId: z.string(),
  sealedSecret: z.string(),
  createdAt: z.string(),
  /** Log-ins require it since then. */
  confirmedAt: z.optional(z.string()),
  /** The codes of this step and of all earlier ones are used. */
  lastUsedStep: z._default(z.int(), 0),
  recoveryCodeHashes: z._default(z.set(z.string()), new Set()),
  /** Distinguishes the last use of a code from others at the same moment. */
  lastUseId: z.optional(z.string()),
});
export type SecondFactorRecord = z.infer<typeof SecondFactorRecord>;

const secondFactorKey = new Secret(config.secondFactorKeySecretId);

const recoveryCodeCount = 10;
/** 120 random bits, so that a plain hash of a code cannot be reversed (ASVS 5.0, 6.5.2). Release 0.4.0 made codes with 80. */
const recoveryCodeBytes = 15;

/** Returns the context that binds a sealed secret to its user. */
function placeOf(userId: string): string {
  return `second factor of ${userId}`;
}

/** Finds the second factor of a user, confirmed or not. The read is consistent. */
export async function findSecondFactor(userId: string): Promise<SecondFactorRecord | undefined> {
  return findItem(SecondFactorRecord, keys.secondFactor(userId), { consistent: true });
}

/**
 * Stores an unconfirmed secret, which replaces another unconfirmed one.
 * @returns whether it was stored: a confirmed secret stays
 * @throws Error when the sealing key cannot be read
 */
export async function putUnconfirmed(userId: string, secret: string): Promise<boolean> {
  const key = await secondFactorKey.value();
  await noteSealingKey("secondFactors", key);
  const sealedSecret = sealText(key, secret, placeOf(userId));
  const createdAt = now().toISOString();
  const record = { entity: "secondFactor", userId, sealedSecret, createdAt } as const;
  const kept = await putItem(putOf(keys.secondFactor(userId), record, { absent: ["confirmedAt"] }), {
    isOwn: (found) => found["sealedSecret"] === sealedSecret,
  });
  return kept.applied;
}

/**
 * Returns the step whose code this is, if the step is not used.
 * @throws SealedWithAnotherKey when the stage's key was lost or replaced
 * @throws Error when the key cannot be read
 */
export async function unusedStepOf(record: SecondFactorRecord, code: string): Promise<number | undefined> {
  const secret = unsealText(await secondFactorKey.value(), record.sealedSecret, placeOf(record.userId));
  const step = stepOfTotpCode(secret, typedCode(code), now());
  return step !== undefined && step > record.lastUsedStep ? step : undefined;
}

/**
 * Makes log-ins require the second factor from now on.
 * @param step the step of the code that has shown that the app has the secret
 * @param also other writes of the same transaction
 * @returns the recovery codes, which are shown only once; undefined when another secret replaced this one, or it was
 *   confirmed meanwhile
 */
export async function confirm(
  record: SecondFactorRecord,
  step: number,
  also: readonly Write[],
): Promise<string[] | undefined> {
  const { userId, sealedSecret } = record;
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, () => newRecoveryCode());
  const confirmedAt = now().toISOString();
  const recoveryCodeHashes = new Set(recoveryCodes.map((code) => hashOf(userId, code)));
  const confirmed = await transact({
    secondFactor: updateOf(
      keys.secondFactor(userId),
      { set: { confirmedAt, lastUsedStep: step, recoveryCodeHashes } },
      { is: { sealedSecret }, absent: ["confirmedAt"] },
    ),
    user: updateOf(keys.user(userId), { set: { secondFactorAt: confirmedAt } }, { present: ["pk"] }),
    also,
  });
  return confirmed.outcome === "committed" ? recoveryCodes : undefined;
}

/** Reports whether a code is an unused recovery code. Recovery codes are too long to be guessed. */
export function isRecoveryCode({ userId, recoveryCodeHashes }: SecondFactorRecord, code: string): boolean {
  return recoveryCodeHashes.has(hashOf(userId, code));
}

/**
 * Uses up a code of the app, or a recovery code.
 * @returns whether it was valid; only one of two uses at the same moment is
 * @throws SealedWithAnotherKey when the stage's key was lost or replaced
 * @throws Error when the key cannot be read
 */
export async function useCode(record: SecondFactorRecord, code: string): Promise<boolean> {
  const { userId, sealedSecret } = record;
  const [changes, requirements] = await useOf(record, code);
  const lastUseId = randomUUID();
  const used = await updateItem(
    SecondFactorRecord,
    updateOf(
      keys.secondFactor(userId),
      { ...changes, set: { ...changes.set, lastUseId } },
      { ...requirements, is: { sealedSecret } },
    ),
    { isOwn: (found) => found.lastUseId === lastUseId },
  );
  return used.applied;
}

/** Returns the changes that use up a code, and what they require. */
async function useOf(
  record: SecondFactorRecord,
  code: string,
): Promise<readonly [changes: Changes<"secondFactor">, requirements: Requirements<"secondFactor">]> {
  const hash = hashOf(record.userId, code);
  const step = record.recoveryCodeHashes.has(hash) ? undefined : await unusedStepOf(record, code);
  if (step !== undefined) {
    return [{ set: { lastUsedStep: step } }, { below: { lastUsedStep: step } }];
  }
  return [{ take: { recoveryCodeHashes: new Set([hash]) } }, { contains: { recoveryCodeHashes: hash } }];
}

/**
 * Removes a second factor.
 * @param also other writes of the same transaction
 * @returns whether it was still there, and was not confirmed since it was read
 */
export async function remove(
  { userId, sealedSecret, confirmedAt }: SecondFactorRecord,
  also: readonly Write[],
): Promise<boolean> {
  const absent = confirmedAt === undefined ? (["confirmedAt"] as const) : [];
  const removed = await transact({
    secondFactor: deleteOf(keys.secondFactor(userId), { is: { sealedSecret }, absent }),
    user: updateOf(keys.user(userId), { remove: ["secondFactorAt"] }, { present: ["pk"] }),
    also,
  });
  return removed.outcome === "committed";
}

/** Makes a code of six groups of four characters, for example `K7QX-2MZD-A4TB-W3NE-5HJP-Q6YC`. */
function newRecoveryCode(): string {
  return (base32Of(randomBytes(recoveryCodeBytes)).match(/.{4}/g) ?? []).join("-");
}

function hashOf(userId: string, code: string): string {
  return createHash("sha256")
    .update(`${userId} ${typedCode(code)}`)
    .digest("hex");
}
