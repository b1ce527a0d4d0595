import { Stripe } from "stripe";
import * as z from "zod/mini";

import { minuteMs, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";

/** The keys of the operator's account, as `payments connect` writes them. */
export const StripeKeys = z.object({
  secretKey: z.string().check(z.regex(/^(sk|rk)_/, "must begin with sk_ or rk_")),
  webhookSecret: z.string().check(z.minLength(1)),
});
export type StripeKeys = z.infer<typeof StripeKeys>;

/** A client of the operator's account, and its keys. */
interface Connection extends StripeKeys {
  readonly stripe: Stripe;
}

const connections = new TtlCache<Connection>({ ttlMs: minuteMs });

/** The stage's account at Stripe. Tests replace its only method. */
export const stageAccount = {
  /** Connects with the stage's keys, which are at most a minute old. @throws Error when they cannot be read */
  connect: async (): Promise<Connection> => connections.read(readConnection),
};

async function readConnection(): Promise<Connection> {
  const { readSecretJson } = await import("../../platform/aws/read-secret.ts");
  const keys = StripeKeys.safeParse(await readSecretJson({ SecretId: config.paymentSecretId() }));
  if (!keys.success) {
    throw new Error(
      "the secret of the payment provider does not have the format that `payments connect` writes",
    );
  }
  return { stripe: newStripe(keys.data.secretKey), ...keys.data };
}

export function newStripe(secretKey: string): Stripe {
  const url = config.stripeApiUrl();
  const address = url === undefined ? undefined : new URL(url);
  return new Stripe(secretKey, {
    // The gateway repeats each call later, as the same request.
    maxNetworkRetries: 1,
    timeout: 8 * secondMs,
    telemetry: false,
    ...(address === undefined
      ? {}
      : { host: address.hostname, port: address.port, protocol: "http" as const }),
  });
}
