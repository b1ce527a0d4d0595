import { createPublicKey, type KeyObject } from "node:crypto";

import { config } from "../config.ts";
import { TtlCache } from "../ttl-cache.ts";

/*
 * The key that session tokens are signed with. It was made in KMS and never leaves it: what logs users in asks KMS for
 * a signature, and everything else has the public half, which can do no more than check one. The client of KMS is loaded
 * when it is first needed: most calls come with an API key, and none of these needs it.
 */

const publicKey = new TtlCache<KeyObject>();

/**
 * The public key, loaded once for the life of the instance: a key of KMS never changes, another one has another id. A
 * failed load is tried again at the next use.
 * @throws Error when it cannot be loaded
 */
export async function publicSessionKey(): Promise<KeyObject> {
  return publicKey.read(loadPublicKey);
}

async function loadPublicKey(): Promise<KeyObject> {
  const KeyId = config.sessionKeyId();
  const { readPublicKey } = await import("./key-service.ts");
  const PublicKey = await readPublicKey(KeyId);
  if (PublicKey === undefined) throw new Error(`the key ${KeyId} has no public half`);
  return createPublicKey({ key: Buffer.from(PublicKey), format: "der", type: "spki" });
}

/**
 * Signs a text with ES256.
 * @returns the signature in the form of RFC 7518, section 3.4
 * @throws Error when KMS does not sign it
 */
export async function signWithSessionKey(text: string): Promise<Uint8Array> {
  const { sign } = await import("./key-service.ts");
  const Signature = await sign(config.sessionKeyId(), text);
  if (Signature === undefined) throw new Error("KMS gave no signature");
  return joinedSignature(Signature);
}

/** How long each of the two numbers is that a signature on the curve P-256 consists of. */
const numberBytes = 32;

/**
 * KMS writes a signature in DER (RFC 3279, section 2.2.3): two integers in a sequence, each as short as it can be, or with
 * a zero in front that keeps it positive. A token has the two side by side, in 32 bytes each.
 */
export function joinedSignature(der: Uint8Array): Uint8Array {
  const joined = new Uint8Array(2 * numberBytes);
  // Behind the tag and the length of the sequence, each integer has its own two bytes of these.
  let start = 4;
  for (const end of [numberBytes, 2 * numberBytes]) {
    const length = der[start - 1] ?? 0;
    const digits = der.subarray(start, start + length).slice(-numberBytes);
    joined.set(digits, end - digits.length);
    start += length + 2;
  }
  return joined;
}
