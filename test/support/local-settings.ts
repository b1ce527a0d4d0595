import { localCredentials } from "../../infra/local/connections.ts";
import { environmentNames } from "../../shared/platform/config.ts";

/** The settings of the local stage, with which domain code runs inside a test, and never reaches a real account. */
export const localSettings: Readonly<Record<string, string>> = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  [environmentNames.stage]: "local",
  [environmentNames.currency]: "USD",
  [environmentNames.webhookKeySecretId]: "webhook-key",
  [environmentNames.secondFactorKeySecretId]: "second-factor-key",
  [environmentNames.topUpEnabled]: "true",
  [environmentNames.paymentsEnabled]: "true",
  [environmentNames.docsEnabled]: "true",
  [environmentNames.payments]: "{}",
  [environmentNames.brand]: '{"name":"SMS gateway","images":[]}',
  [environmentNames.webhookTargets]: "any",
  [environmentNames.carrier]: "sandbox",
  [environmentNames.prices]: "sample",
  [environmentNames.failoverAtLoss]: "false",
  [environmentNames.logSentMessages]: "true",
  [environmentNames.behindFirewall]: "false",
  [environmentNames.oneTimeCodeValiditySeconds]: "600",
  [environmentNames.policies.senderIds]: "any",
  [environmentNames.policies.kyc]: "none",
  [environmentNames.policies.verifiedEmail]: "none",
  [environmentNames.policies.countries]: "any",
  [environmentNames.policies.numberTypes]: "any",
  [environmentNames.policies.passwords]: "any",
  [environmentNames.policies.redactOneTimeCodes]: "false",
  [environmentNames.policies.apiKeysManageKeys]: "true",
  [environmentNames.policies.reauthentication]: "none",
};
