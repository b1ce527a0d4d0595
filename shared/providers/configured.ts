import { config } from "../platform/config.ts";
import { awsSmsProvider } from "./aws-sms.ts";
import type { Provider } from "./provider.ts";
import { sandboxProvider } from "./sandbox.ts";

const providers: Readonly<Record<string, Provider>> = { sandbox: sandboxProvider, "aws-sms": awsSmsProvider };

/** The provider that the stage names. */
export function configuredProvider(): Provider {
  const provider = providers[config.provider()];
  if (provider === undefined) throw new Error(`there is no provider ${config.provider()}`);
  return provider;
}
