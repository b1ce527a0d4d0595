import { config } from "../platform/config.ts";
import { awsCarrier } from "./aws.ts";
import type { Carrier } from "./carrier.ts";
import { sandboxCarrier } from "./sandbox.ts";

const carriers: Readonly<Record<string, Carrier>> = { sandbox: sandboxCarrier, aws: awsCarrier };

/** The carrier that the stage names. */
export function configuredCarrier(): Carrier {
  const carrier = carriers[config.carrier()];
  if (carrier === undefined) throw new Error(`there is no carrier ${config.carrier()}`);
  return carrier;
}
