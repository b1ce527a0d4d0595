export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

let provide: (() => Promise<Credentials>) | undefined;

/** Sets a provider that replaces the credentials of the environment, for the commands of an operator. */
export function useCredentials(provider: () => Promise<Credentials>): void {
  provide = provider;
}

/**
 * Returns the current credentials. Lambda sets those of a function's role in the environment, and starts a sandbox with new
 * ones before they expire.
 * @throws CredentialsError when there are none
 */
export async function currentCredentials(): Promise<Credentials> {
  if (provide !== undefined) return provide();
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (accessKeyId === "" || secretAccessKey === "") throw new CredentialsError();
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

/** A request could not be signed, and was not sent. */
class CredentialsError extends Error {
  // As the SDK names it.
  override readonly name = "CredentialsProviderError";

  constructor() {
    super("the environment has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
}
