import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";

/*
 * Writing what Secrets Manager keeps for carriers, which the operator's commands alone may do.
 */

/**
 * Keeps a value under a name, in the place of what was there.
 * @returns the id of the version that it is
 */
export async function keepSecret(name: string, value: object): Promise<string> {
  const client = new SecretsManagerClient({});
  const SecretString = JSON.stringify(value);
  try {
    const created = await client.send(
      new CreateSecretCommand({
        Name: name,
        SecretString,
        Description: "What a carrier of the SMS gateway knows it by",
      }),
    );
    return created.VersionId ?? "";
  } catch (error) {
    if (!(error instanceof ResourceExistsException)) throw error;
  }
  const { VersionId = "" } = await client.send(new PutSecretValueCommand({ SecretId: name, SecretString }));
  return VersionId;
}

/** Deletes a secret for good. One that is not there is as good as deleted. */
export async function deleteSecret(name: string): Promise<void> {
  const command = new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true });
  try {
    await new SecretsManagerClient({}).send(command);
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
}
