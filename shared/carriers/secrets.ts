import { randomUUID } from "node:crypto";

import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
} from "@aws-sdk/client-secrets-manager";

import { SecretsManager } from "../platform/aws/secrets-manager.ts";

/*
 * Writing what Secrets Manager keeps for carriers, which the operator's commands alone may do.
 */

/**
 * Keeps a value under a name, in the place of what was there.
 * @returns the id of the version that it is
 */
export async function keepSecret(name: string, value: object): Promise<string> {
  const client = new SecretsManager();
  // A repeat of a request whose answer was lost must not make another version.
  const ClientRequestToken = randomUUID();
  const SecretString = JSON.stringify(value);
  try {
    const created = await client.send(
      new CreateSecretCommand({
        Name: name,
        SecretString,
        ClientRequestToken,
        Description: "What a carrier of the SMS gateway knows it by",
      }),
    );
    return created.VersionId ?? "";
  } catch (error) {
    if (!(error instanceof ResourceExistsException)) throw error;
  }
  const { VersionId = "" } = await client.send(
    new PutSecretValueCommand({ SecretId: name, SecretString, ClientRequestToken }),
  );
  return VersionId;
}

/** Deletes a secret for good. One that is not there is as good as deleted. */
export async function deleteSecret(name: string): Promise<void> {
  const command = new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true });
  try {
    await new SecretsManager().send(command);
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
}
