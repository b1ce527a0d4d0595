import { awsCallbacks } from "./aws.ts";
import { httpCallbacks } from "./http.ts";
import { kannelCallbacks } from "./kannel.ts";
import type { CarrierCallbacks, Kind } from "./kind.ts";
import { sandboxCallbacks } from "./sandbox.ts";
import type { SettingsOf } from "./settings.ts";
import { twilioCallbacks } from "./twilio.ts";

const records: { readonly [K in Kind]: CarrierCallbacks<SettingsOf<K>> } = {
  sandbox: sandboxCallbacks,
  aws: awsCallbacks,
  kannel: kannelCallbacks,
  twilio: twilioCallbacks,
  http: httpCallbacks,
};

/** The callbacks of each kind of carrier: for the functions that carriers call, and the operator. */
export const callbacksOfKinds: Readonly<Record<Kind, CarrierCallbacks>> = records;
