import { awsCalls } from "./aws.ts";
import { httpCalls } from "./http.ts";
import { kannelCalls } from "./kannel.ts";
import type { CarrierCalls, Kind } from "./kind.ts";
import { sandboxCalls } from "./sandbox.ts";
import type { SettingsOf } from "./settings.ts";
import { twilioCalls } from "./twilio.ts";

const records: { readonly [K in Kind]: CarrierCalls<SettingsOf<K>> } = {
  sandbox: sandboxCalls,
  aws: awsCalls,
  kannel: kannelCalls,
  twilio: twilioCalls,
  http: httpCalls,
};

/** How each kind of carrier gets messages: for the sender and the operator. */
export const callsOfKinds: Readonly<Record<Kind, CarrierCalls>> = records;
