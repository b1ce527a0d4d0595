import * as z from "zod/mini";

import type { readSecretJson } from "../platform/aws/read-secret.ts";
import { minuteMs } from "../platform/clock.ts";
import { TtlCache } from "../platform/ttl-cache.ts";
import { UnreachableError } from "./call.ts";
import type { CarrierRecord } from "./record.ts";

/*
 * The credentials of carriers. Each carrier has one secret of Secrets Manager, which only the sender may read: the
 * credentials, and the token of the carrier's callbacks.
 */

/** A text without line breaks, so that it cannot end a header and begin another. */
export const SecretText = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(2_000),
    z.regex(/^[\x20-\x7e]+$/, "must be printable ASCII characters in one line"),
  );

/** The credentials of a kind whose carriers have none. */
export const NoCredentials = z.strictObject({});

/** The secret of a carrier in Secrets Manager. */
const CarrierSecret = z.object({
  credentials: z.record(z.string(), z.string()),
  callbackToken: z.optional(z.string()),
});
export type CarrierSecret = z.infer<typeof CarrierSecret>;

/**
 * Returns the credentials in a secret, checked for the carrier's kind.
 * @throws UnreachableError when they do not fit the kind
 */
export function credentialsIn<Credentials>(
  schema: z.ZodMiniType<Credentials>,
  { credentials }: CarrierSecret,
): Credentials {
  const checked = schema.safeParse(credentials);
  if (!checked.success) throw new UnreachableError("CredentialsMissing");
  return checked.data;
}

/** The secret with the token of a carrier that signs its callbacks. */
const CallbackSecret = z.object({ authToken: z.string().check(z.minLength(1)) });

/** Short limits, because a message waits while its carrier's secret is read. */
const timeLimits = { connectionMs: 500, requestMs: 1_000 };

/** A version of a secret never changes, so each is read once. */
const secrets = new TtlCache<CarrierSecret>({ maxKeys: 100 });

const authTokens = new TtlCache<string>({ ttlMs: minuteMs });

/** Reads the secret of a carrier, in the version that its record names. @throws Error when it cannot be read */
export async function readSecret({
  secretId: SecretId,
  secretVersion: VersionId,
}: Pick<CarrierRecord, "secretId" | "secretVersion">): Promise<CarrierSecret> {
  if (SecretId === undefined) return { credentials: {} };
  return secrets.read(
    async () => load(CarrierSecret, { SecretId, VersionId }, timeLimits),
    `${SecretId} ${VersionId}`,
  );
}

/**
 * Reads the token with which a carrier signs its callbacks, at most a minute old.
 * @throws Error when it cannot be read
 */
export async function readAuthToken(SecretId: string): Promise<string> {
  return authTokens.read(async () => (await load(CallbackSecret, { SecretId })).authToken, SecretId);
}

async function load<Secret>(
  schema: z.ZodMiniType<Secret>,
  ...read: Parameters<typeof readSecretJson>
): Promise<Secret> {
  const { readSecretJson } = await import("../platform/aws/read-secret.ts");
  const secret = schema.safeParse(await readSecretJson(...read));
  if (!secret.success)
    throw new Error("the secret of the carrier does not have the format that `carriers set` writes");
  return secret.data;
}
