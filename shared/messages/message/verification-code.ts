import { macOf, sealingKeyIds, sealText, unsealText } from "../../platform/auth/sealed-text.ts";
import { Secret } from "../../platform/auth/secret.ts";
import { config } from "../../platform/config.ts";
import { codePlaceholder, type CodeSource, type MessageRecord } from "./record.ts";

/*
 * The codes of verifications. No item has one. A code is derived from the id of the verification with a key of the stage, so
 * each message has the same one. A code of the caller's own is sealed with that key. The text of a message keeps the
 * placeholder, and the sender fills in the code when it submits the message.
 */

const codeKey = new Secret(config.verificationKeySecretId);

/** Returns the source of a new code. @param own the caller's code; without it, one of `length` digits is derived */
export async function newCode(
  verificationId: string,
  { own, length }: { readonly own?: string | undefined; readonly length: number },
): Promise<CodeSource> {
  const key = await codeKey.value();
  const [keyId] = sealingKeyIds(key);
  if (own === undefined) return { keyId, length };
  return { keyId, length: own.length, sealed: sealText(key, own, placeOf(verificationId)) };
}

/** Returns the code of a verification. @throws Error when the key is not available, or was replaced for good */
export async function codeOf(verificationId: string, source: CodeSource): Promise<string> {
  const key = await codeKey.value();
  const { keyId, length, sealed } = source;
  if (sealed !== undefined) return unsealText(key, sealed, placeOf(verificationId));
  // The number has 77 digits, so the remainder is as good as uniform.
  const number = BigInt(`0x${macOf(key, keyId, placeOf(verificationId))}`) % 10n ** BigInt(length);
  return String(number).padStart(length, "0");
}

/**
 * Returns a text by which a repeated check is recognized. It shows nothing about the code to anyone without the key of the stage.
 * @throws Error when the key is not available
 */
export async function proofOfCheck(
  verificationId: string,
  idempotencyKey: string,
  typed: string,
): Promise<string> {
  const key = await codeKey.value();
  const [keyId] = sealingKeyIds(key);
  return macOf(key, keyId, `check of ${verificationId} ${idempotencyKey} ${typed}`);
}

function placeOf(verificationId: string): string {
  return `code of ${verificationId}`;
}

/** Returns the text of a message as it is submitted. @throws Error when its code is not available */
export async function textToSubmit({
  message,
  verificationId,
  code,
}: Pick<MessageRecord, "code" | "message" | "verificationId">): Promise<string> {
  if (verificationId === undefined || code === undefined) return message;
  return message.replaceAll(codePlaceholder, await codeOf(verificationId, code));
}
