import { GetPublicKeyCommand, SignCommand } from "@aws-sdk/client-kms";

import { Kms } from "../aws/kms.ts";

/*
 * What is asked of KMS. Whoever needs it imports this file in the moment: in a bundle it is a file of its own.
 */

const client = new Kms();

/** The public half of a key of KMS, in DER (SubjectPublicKeyInfo); undefined if KMS gave none. */
export async function readPublicKey(KeyId: string): Promise<Uint8Array | undefined> {
  const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }));
  return PublicKey;
}

/** The signature of a text by a key of KMS, with ECDSA and SHA-256, in DER; undefined if KMS gave none. */
export async function sign(KeyId: string, text: string): Promise<Uint8Array | undefined> {
  const Message = Buffer.from(text);
  const { Signature } = await client.send(
    new SignCommand({ KeyId, Message, MessageType: "RAW", SigningAlgorithm: "ECDSA_SHA_256" }),
  );
  return Signature;
}
