import { startStripe, type TestStripe } from "./stripe.ts";

/* Stands in for the module that connects to Stripe: the code under test uses a local provider, which a test can replace. */

let connected: TestStripe | undefined;

/** The provider that the code under test uses. */
export function stripe(): TestStripe {
  if (connected === undefined) throw new Error("no provider is connected");
  return connected;
}

/** Connects to a provider, by default to a new one, which knows nothing of the one before. */
export async function connectStripe(provider?: TestStripe): Promise<void> {
  connected = provider ?? (await startStripe());
}

/** Lets Stripe lose all that the account has. */
export async function loseObjects(): Promise<void> {
  const selfOf = ({ server }: TestStripe): object => server.account.objects.all("account")[0] ?? {};
  const self = selfOf(stripe());
  await connectStripe();
  Object.assign(selfOf(stripe()), self);
}

export const stageAccount = {
  connect: async () => {
    const { client, server } = stripe();
    return { stripe: client, secretKey: `sk_test_${server.url}`, webhookSecret: "whsec_test" };
  },
};
