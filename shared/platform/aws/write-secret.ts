import { randomUUID } from "node:crypto";

import { isAwsError } from "./errors.ts";
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManager,
} from "./secrets-manager.ts";

/*
 * Writing a secret of Secrets Manager: the credentials of a carrier, or of the payment provider. Only the operator's commands
 * may do this.
 */

/**
 * Writes a secret, and replaces an earlier value.
 * @param whose the system that the credentials are for, for the secret's description
 * @returns the id of its new version
 */
export async function writeSecret(name: string, value: object, whose: string): Promise<string> {
  const client = new SecretsManager();
  // A repeat of a request whose response was lost must not make another version.
  const ClientRequestToken = randomUUID();
  const SecretString = JSON.stringify(value);
  try {
    const created = await client.send(
      new CreateSecretCommand({
        Name: name,
        SecretString,
        ClientRequestToken,
        Description: `Credentials of ${whose} of the SMS gateway`,
      }),
    );
    return created.VersionId ?? "";
  } catch (error) {
    if (!isAwsError(error, "ResourceExistsException")) throw error;
  }
  const { VersionId = "" } = await client.send(
    new PutSecretValueCommand({ SecretId: name, SecretString, ClientRequestToken }),
  );
  return VersionId;
}

/** Deletes a secret permanently. A missing one counts as deleted. */
export async function deleteSecret(name: string): Promise<void> {
  const command = new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true });
  try {
    await new SecretsManager().send(command);
  } catch (error) {
    if (!isAwsError(error, "ResourceNotFoundException")) throw error;
  }
}
