import { GetPublicKeyCommand, Kms, SignCommand } from "../aws/kms.ts";

/*
 * The requests to KMS. Import this file dynamically, when it is needed: a bundle keeps it as a separate file.
 */

const client = new Kms();

/** Returns the public half of a KMS key, in DER (SubjectPublicKeyInfo); undefined if KMS returned none. */
export async function readPublicKey(KeyId: string): Promise<Uint8Array | undefined> {
  const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }));
  return bytesOf(PublicKey);
}

/** Signs a text with a KMS key (ECDSA, SHA-256). @returns the signature in DER; undefined if KMS returned none */
export async function sign(KeyId: string, text: string): Promise<Uint8Array | undefined> {
  const Message = Buffer.from(text);
  const { Signature } = await client.send(
    new SignCommand({ KeyId, Message, MessageType: "RAW", SigningAlgorithm: "ECDSA_SHA_256" }),
  );
  return bytesOf(Signature);
}

function bytesOf(base64: string | undefined): Uint8Array | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64");
}
