import * as z from "zod/mini";

import { TtlCache } from "../platform/ttl-cache.ts";
import { UnreachableError } from "./call.ts";
import type { carrierKinds } from "./kinds.ts";
import type { CarrierRecord } from "./record.ts";
import type { CarrierSettings } from "./settings.ts";

/*
 * The credentials of carriers. Each carrier has one secret of Secrets Manager, which only the sender may read: the
 * credentials, and the token of the carrier's callbacks.
 */

export type CredentialsOf<Kind extends CarrierSettings["kind"]> = z.infer<
  (typeof carrierKinds)[Kind]["credentials"]
>;

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

/** Short limits, because a message waits while its carrier's secret is read. */
const timeLimits = { connectionMs: 500, requestMs: 1_000 };

/** A version of a secret never changes, so each is read once. */
const secrets = new TtlCache<CarrierSecret>({ maxKeys: 100 });

/** Reads the secret of a carrier, in the version that its record names. @throws Error when it cannot be read */
export async function readSecret({
  secretId,
  secretVersion,
}: Pick<CarrierRecord, "secretId" | "secretVersion">): Promise<CarrierSecret> {
  if (secretId === undefined) return { credentials: {} };
  return secrets.read(async () => load(secretId, secretVersion), `${secretId} ${secretVersion}`);
}

async function load(SecretId: string, VersionId: string | undefined): Promise<CarrierSecret> {
  const { readSecretJson } = await import("../platform/aws/read-secret.ts");
  const secret = CarrierSecret.safeParse(await readSecretJson({ SecretId, VersionId }, timeLimits));
  if (!secret.success)
    throw new Error("the secret of the carrier does not have the format that `carriers set` writes");
  return secret.data;
}
