import { randomBytes } from "node:crypto";

import { paymentSecretName } from "@sms-gateway/stack/constructs/names.ts";
import * as z from "zod/mini";

import type { LocalSecrets } from "../secrets.ts";

/** The keys of an account at Stripe, as functions read them from their secret. */
const StripeKeys = z.object({ secretKey: z.string(), webhookSecret: z.string() });
export type StripeKeys = z.infer<typeof StripeKeys>;

/** A secret of the form of Stripe's. */
function newStripeKey(prefix: "sk_test" | "whsec"): string {
  return `${prefix}_${randomBytes(24).toString("hex")}`;
}

/**
 * Reads the keys of a developer's own test account from the environment.
 * @returns undefined when it has none
 * @throws Error when they are not keys of a test account
 */
export function stripeKeysOf(environment: NodeJS.ProcessEnv): StripeKeys | undefined {
  const secretKey = environment["STRIPE_SECRET_KEY"];
  if (secretKey === undefined) return undefined;
  if (!/^[rs]k_test_/.test(secretKey)) {
    throw new Error("STRIPE_SECRET_KEY must begin with sk_test_: the local gateway must not move real money");
  }
  // By default no event is valid, and the gateway reads the state of payments itself.
  const webhookSecret = environment["STRIPE_WEBHOOK_SECRET"] ?? newStripeKey("whsec");
  // Anyone could sign events with an empty one.
  if (!webhookSecret.startsWith("whsec_")) throw new Error("STRIPE_WEBHOOK_SECRET must begin with whsec_");
  return { secretKey, webhookSecret };
}

/**
 * Stores keys where functions read them: these, or else those that are there, or else new ones.
 * @returns the stored keys
 */
export async function storeStripeKeys(
  secrets: LocalSecrets,
  stackName: string,
  keys: StripeKeys | undefined,
): Promise<StripeKeys> {
  const id = paymentSecretName(stackName);
  const stored = await secrets.execute("GetSecretValue", { SecretId: id });
  const exists = "output" in stored;
  if (exists && keys === undefined)
    return StripeKeys.parse(JSON.parse(String(stored.output["SecretString"])));
  const value = keys ?? { secretKey: newStripeKey("sk_test"), webhookSecret: newStripeKey("whsec") };
  const SecretString = JSON.stringify(value);
  if (exists) await secrets.execute("PutSecretValue", { SecretId: id, SecretString });
  else await secrets.execute("CreateSecret", { Name: id, SecretString });
  return value;
}
