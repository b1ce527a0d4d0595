import { findCommit } from "@sms-gateway/build/release/release.ts";

import { environmentNames } from "../../../shared/platform/config.ts";
import type { Access, Capability } from "../access.ts";
import { publishedBrand } from "../stages/brand.ts";
import type { Stage } from "../stages/stage.ts";
import type { Backend } from "./backend.ts";
import { paymentSecretName } from "./names.ts";

/**
 * Returns the environment variables of a function.
 * @param stackName the gateway's stack: on this machine it has the same name for every stage
 */
export function functionEnvironment(
  backend: Backend,
  access: Access,
  stackName: string,
): Record<string, string> {
  const { stage, queues } = backend;
  const { payments, email } = stage;
  const ifMay = (value: string | undefined, ...capabilities: Capability[]): string | undefined =>
    capabilities.some((each) => access.may(each)) ? value : undefined;
  const variables = {
    [environmentNames.stage]: stage.name,
    [environmentNames.currency]: stage.currency,
    [environmentNames.tableName]: backend.table.tableName,
    [environmentNames.topUpEnabled]: stage.topUpEnabled,
    // Whether customers have a method of payment.
    [environmentNames.paymentsEnabled]: payments.cards !== "none" || payments.bankTransfer !== undefined,
    [environmentNames.docsEnabled]: stage.docsEnabled,
    [environmentNames.webhookTargets]: stage.webhookTargets,
    [environmentNames.carrier]: stage.carrier,
    [environmentNames.prices]: stage.prices,
    [environmentNames.failoverAtLoss]: stage.failoverAtLoss,
    [environmentNames.logSentMessages]: stage.logSentMessages,
    [environmentNames.behindFirewall]: stage.firewall !== undefined,
    ...policyVariables(stage.policies),
    ...limitVariables(stage.limits),
    [environmentNames.emailFrom]: email?.from,
    [environmentNames.emailName]: ifMay(email && (email.name ?? stage.brand.name), "email"),
    [environmentNames.operatorEmails]: ifMay(email && stage.alarmEmails.join(" "), "email"),
    [environmentNames.emailConfigurationSet]: ifMay(email?.configurationSet, "email"),
    [environmentNames.apiUrl]: ifMay(backend.apiUrl, "links"),
    [environmentNames.brand]: ifMay(JSON.stringify(publishedBrand(stage)), "brand"),
    [environmentNames.payments]: ifMay(JSON.stringify(payments), "paymentTerms"),
    [environmentNames.paymentSecretId]: ifMay(paymentSecretName(stackName), "paymentProvider"),
    [environmentNames.verificationGuard]: stage.verificationGuard && JSON.stringify(stage.verificationGuard),
    [environmentNames.messageRetentionDays]: stage.messageRetentionDays,
    [environmentNames.documentsBucket]: ifMay(
      backend.documents.bucketName,
      "readDocuments",
      "writeDocuments",
    ),
    [environmentNames.sessionKeyId]: ifMay(
      backend.sessionKeys.map(({ keyId }) => keyId).join(","),
      "checkSessions",
      "startSessions",
    ),
    [environmentNames.commit]: access.may("commit") ? findCommit() : undefined,
    [environmentNames.webhookKeySecretId]: ifMay(backend.webhookKey.secretArn, "webhookKey"),
    [environmentNames.secondFactorKeySecretId]: ifMay(backend.secondFactorKey.secretArn, "secondFactorKey"),
    [environmentNames.verificationKeySecretId]: ifMay(backend.verificationKey.secretArn, "verificationKey"),
    ...Object.fromEntries(
      access.queues.map((queue) => [environmentNames.queueUrl[queue], queues[queue].queue.queueUrl]),
    ),
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
}

/** Returns the policies of the stage as texts: a list with spaces between, and an absent policy as an empty text. */
function policyVariables(policies: Stage["policies"]): Record<string, string> {
  const names: Readonly<Record<keyof Stage["policies"], string>> = environmentNames.policies;
  const values: Readonly<Record<string, boolean | string | readonly string[] | undefined>> = policies;
  return Object.fromEntries(
    Object.entries(names).map(([policy, variable]) => [variable, [values[policy]].flat().join(" ")]),
  );
}

/** Returns the limits of the stage. Those that it does not have are undefined. */
function limitVariables(limits: Stage["limits"]): Record<string, number | string | undefined> {
  const unlessNone = (limit: number | "none"): number | undefined => (limit === "none" ? undefined : limit);
  return {
    [environmentNames.dailySpendCap]: limits.dailySpendCap,
    [environmentNames.sendsPerSecond]: limits.sendsPerSecond,
    [environmentNames.oneTimeCodesPerNumber]: limits.oneTimeCodesPerNumberPer10Minutes,
    [environmentNames.transactionalMessagesPerNumber]: limits.transactionalMessagesPerNumberPer10Minutes,
    [environmentNames.marketingMessagesPerNumber]: limits.marketingMessagesPerNumberPerDay,
    [environmentNames.oneTimeCodeValiditySeconds]: limits.oneTimeCodeValiditySeconds,
    [environmentNames.registrationsPerAddress]: limits.registrationsPerAddressPerHour,
    [environmentNames.requestsPerSecond]: unlessNone(limits.requestsPerSecond),
    [environmentNames.unknownCredentialsPerAddress]: unlessNone(
      limits.unknownCredentialsPerAddressPer5Minutes,
    ),
    [environmentNames.webhooksBeforePayment]: limits.webhooksBeforePayment,
  };
}
