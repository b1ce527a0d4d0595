import { createPublicKey, type KeyObject } from "node:crypto";

import { config } from "../config.ts";
import { TtlCache } from "../ttl-cache.ts";

/*
 * The key that signs session tokens. It never leaves KMS. The functions that log users in request signatures from KMS. All
 * others have only the public half, which checks signatures. The KMS client is loaded when it is first needed, because calls
 * with an API key do not need it.
 */

/** The public keys by the ids of their keys. A stage has two while it replaces one. */
const publicKeys = new Map<string, TtlCache<KeyObject>>();

/** Returns the id of the key that signs. */
export function signingKeyId(): string {
  return config.sessionKeyIds()[0] ?? "";
}

/**
 * Returns the public key of one of the stage's keys. It is loaded once for the life of the instance, because a KMS key never changes.
 * The next use repeats a failed load.
 * @throws Error when it cannot be loaded
 */
export async function publicSessionKey(keyId: string): Promise<KeyObject> {
  const publicKey = publicKeys.get(keyId) ?? new TtlCache<KeyObject>();
  publicKeys.set(keyId, publicKey);
  return publicKey.read(async () => loadPublicKey(keyId));
}

async function loadPublicKey(KeyId: string): Promise<KeyObject> {
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
  const Signature = await sign(signingKeyId(), text);
  if (Signature === undefined) throw new Error("KMS gave no signature");
  return joinedSignature(Signature);
}

/** The length of each of the two numbers of a signature on the curve P-256. */
const numberBytes = 32;

/**
 * Converts a signature from DER (RFC 3279, section 2.2.3) to the form of a token. DER has a sequence of two integers, each as
 * short as possible, or with a leading zero that keeps it positive. A token has 32 bytes for each.
 */
export function joinedSignature(der: Uint8Array): Uint8Array {
  const joined = new Uint8Array(2 * numberBytes);
  // The tag and the length of the sequence come first. Each integer has a tag and a length too.
  let start = 4;
  for (const end of [numberBytes, 2 * numberBytes]) {
    const length = der[start - 1] ?? 0;
    const digits = der.subarray(start, start + length).slice(-numberBytes);
    joined.set(digits, end - digits.length);
    start += length + 2;
  }
  return joined;
}
