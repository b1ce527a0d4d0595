import { createHash, randomBytes, randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { sealText, unsealText } from "../platform/auth/sealed-text.ts";
import { noteSealingKey } from "../platform/auth/sealing-key-record.ts";
import { Secret } from "../platform/auth/secret.ts";
import { base32Of, stepOfTotpCode } from "../platform/auth/totp.ts";
import { now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, putItem, transact, updateItem, type Write } from "../platform/table/table.ts";
import { updateOf, type Changes, type Requirements } from "../platform/table/update.ts";

/*
 * The second factor of a user: the secret that their app makes codes from, sealed with a key of the stage, and the hashes
 * of the recovery codes. It counts once a code has shown that the app has the secret.
 */

const SecondFactorRecord = z.object({
  entity: z.literal("secondFactor"),
  userId: z.string(),
  sealedSecret: z.string(),
  createdAt: z.string(),
  /** Since when log-ins need it. */
  confirmedAt: z.optional(z.string()),
  /** No code of this step, or of one before it, counts once more. */
  lastUsedStep: z._default(z.int(), 0),
  recoveryCodeHashes: z._default(z.set(z.string()), new Set()),
  /** Tells the last use of a code from others of the same moment. */
  lastUseId: z.optional(z.string()),
});
export type SecondFactorRecord = z.infer<typeof SecondFactorRecord>;

const secondFactorKey = new Secret(config.secondFactorKeySecretId);

const recoveryCodeCount = 10;
/** Of 80 random bits, so that a plain hash of it cannot be reversed. */
const recoveryCodeBytes = 10;

/** Binds a sealed secret to its user. */
function placeOf(userId: string): string {
  return `second factor of ${userId}`;
}

/** The second factor of a user as it is now, confirmed or not. */
export async function findSecondFactor(userId: string): Promise<SecondFactorRecord | undefined> {
  return findItem(SecondFactorRecord, keys.secondFactor(userId), { consistent: true });
}

/**
 * Keeps a secret that waits for its first code, in the place of another one that does.
 * @returns whether it was kept: one that is confirmed stays
 * @throws Error when the key does not come
 */
export async function putUnconfirmed(userId: string, secret: string): Promise<boolean> {
  const key = await secondFactorKey.value();
  await noteSealingKey("secondFactors", key);
  const sealedSecret = sealText(key, secret, placeOf(userId));
  const createdAt = now().toISOString();
  const put = { ...keys.secondFactor(userId), entity: "secondFactor", userId, sealedSecret, createdAt };
  const kept = await putItem(
    { put, condition: "attribute_not_exists(confirmedAt)" },
    { isOwn: (found) => found["sealedSecret"] === sealedSecret },
  );
  return kept.applied;
}

/**
 * The step whose code it is, of those that have not been used.
 * @throws SealedWithAnotherKey when the stage's key has been lost or replaced; Error when the key does not come
 */
export async function unusedStepOf(record: SecondFactorRecord, code: string): Promise<number | undefined> {
  const secret = unsealText(await secondFactorKey.value(), record.sealedSecret, placeOf(record.userId));
  const step = stepOfTotpCode(secret, plain(code), now());
  return step !== undefined && step > record.lastUsedStep ? step : undefined;
}

/**
 * Lets log-ins need it from now on.
 * @param step whose code has shown that the app has the secret
 * @param also what is written with it
 * @returns the recovery codes, which nobody sees again; undefined when another secret has taken its place, or it was
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
  const confirmed = await transact([
    updateOf(
      keys.secondFactor(userId),
      { set: { confirmedAt, lastUsedStep: step, recoveryCodeHashes } },
      { is: { sealedSecret }, absent: ["confirmedAt"] },
    ),
    updateOf(keys.user(userId), { set: { secondFactorAt: confirmedAt } }, { present: ["pk"] }),
    ...also,
  ]);
  return confirmed.outcome === "committed" ? recoveryCodes : undefined;
}

/** Whether it is one of the recovery codes that were not used. They are too long to be guessed. */
export function isRecoveryCode({ userId, recoveryCodeHashes }: SecondFactorRecord, code: string): boolean {
  return recoveryCodeHashes.has(hashOf(userId, code));
}

/**
 * Uses a code up: one of the app, or a recovery code.
 * @returns whether it was good; of two uses at the same moment one is
 * @throws SealedWithAnotherKey when the stage's key has been lost or replaced; Error when the key does not come
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

/** How a code is used up, and what must hold for that. */
async function useOf(
  record: SecondFactorRecord,
  code: string,
): Promise<readonly [changes: Changes, requirements: Requirements]> {
  const hash = hashOf(record.userId, code);
  const step = record.recoveryCodeHashes.has(hash) ? undefined : await unusedStepOf(record, code);
  if (step !== undefined) {
    return [{ set: { lastUsedStep: step } }, { where: "#lastUsedStep < :lastUsedStep" }];
  }
  return [
    { take: { recoveryCodeHashes: new Set([hash]) } },
    { where: "contains(#recoveryCodeHashes, :hash)", values: { ":hash": hash } },
  ];
}

/**
 * Takes a second factor away.
 * @param also what is written with it
 * @returns whether it was still there
 */
export async function remove(
  { userId, sealedSecret }: SecondFactorRecord,
  also: readonly Write[],
): Promise<boolean> {
  const removed = await transact([
    {
      delete: keys.secondFactor(userId),
      condition: "sealedSecret = :sealedSecret",
      values: { ":sealedSecret": sealedSecret },
    },
    updateOf(keys.user(userId), { remove: ["secondFactorAt"] }, { present: ["pk"] }),
    ...also,
  ]);
  return removed.outcome === "committed";
}

/** Four groups of four characters, for example `K7QX-2MZD-A4TB-W3NE`. */
function newRecoveryCode(): string {
  return (base32Of(randomBytes(recoveryCodeBytes)).match(/.{4}/g) ?? []).join("-");
}

function hashOf(userId: string, code: string): string {
  return createHash("sha256")
    .update(`${userId} ${plain(code)}`)
    .digest("hex");
}

/** A code without what people and apps put between its groups. */
function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, "").toUpperCase();
}
