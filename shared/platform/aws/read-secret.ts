import type { TimeLimits } from "./http-transport.ts";
import { GetSecretValueCommand, SecretsManager } from "./secrets-manager.ts";

/*
 * Reading a secret of Secrets Manager. Import this file dynamically, when a secret is needed: a bundle keeps it as a separate file.
 */

export interface SecretVersion {
  readonly SecretId: string;
  /** Without one it is the current version. */
  readonly VersionId?: string | undefined;
}

/**
 * Returns the text of a secret, which is empty if it has none.
 * @throws Error when it cannot be read
 */
export async function readSecretText(
  { SecretId, VersionId }: SecretVersion,
  timeLimits?: TimeLimits,
): Promise<string> {
  const client = new SecretsManager(timeLimits === undefined ? {} : { timeLimits });
  const { SecretString = "" } = await client.send(new GetSecretValueCommand({ SecretId, VersionId }));
  return SecretString;
}

/**
 * Returns the content of a secret in JSON. For another text it returns undefined, because the parser's error would quote it.
 * @throws Error when it cannot be read
 */
export async function readSecretJson(version: SecretVersion, timeLimits?: TimeLimits): Promise<unknown> {
  const text = await readSecretText(version, timeLimits);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
