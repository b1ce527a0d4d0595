import { findCommit } from "@sms-gateway/build/release/release.ts";

import { environmentNames } from "../../../shared/platform/config.ts";
import type { Access } from "../access.ts";
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
  const {
    stage,
    table,
    documents,
    queues,
    sessionKeys,
    webhookKey,
    secondFactorKey,
    verificationKey,
    apiUrl,
  } = backend;
  return {
    [environmentNames.stage]: stage.name,
    [environmentNames.currency]: stage.currency,
    [environmentNames.tableName]: table.tableName,
    [environmentNames.topUpEnabled]: String(stage.topUpEnabled),
    [environmentNames.paymentsEnabled]: String(acceptsPayments(stage.payments)),
    [environmentNames.docsEnabled]: String(stage.docsEnabled),
    [environmentNames.webhookTargets]: stage.webhookTargets,
    [environmentNames.carrier]: stage.carrier,
    [environmentNames.prices]: stage.prices,
    [environmentNames.failoverAtLoss]: String(stage.failoverAtLoss),
    [environmentNames.logSentMessages]: String(stage.logSentMessages),
    [environmentNames.behindFirewall]: String(stage.firewall !== undefined),
    ...policyVariables(stage.policies),
    ...limitVariables(stage.limits),
    ...emailVariables(stage, access),
    ...(access.may("links") ? { [environmentNames.apiUrl]: apiUrl } : {}),
    ...(access.may("brand") ? { [environmentNames.brand]: JSON.stringify(publishedBrand(stage)) } : {}),
    ...(access.may("paymentTerms") ? { [environmentNames.payments]: JSON.stringify(stage.payments) } : {}),
    ...(access.may("paymentProvider")
      ? { [environmentNames.paymentSecretId]: paymentSecretName(stackName) }
      : {}),
    ...(stage.verificationGuard === undefined
      ? {}
      : { [environmentNames.verificationGuard]: JSON.stringify(stage.verificationGuard) }),
    ...(stage.messageRetentionDays === undefined
      ? {}
      : { [environmentNames.messageRetentionDays]: String(stage.messageRetentionDays) }),
    ...(access.may("readDocuments") || access.may("writeDocuments")
      ? { [environmentNames.documentsBucket]: documents.bucketName }
      : {}),
    ...(access.may("checkSessions") || access.may("startSessions")
      ? { [environmentNames.sessionKeyId]: sessionKeys.map(({ keyId }) => keyId).join(",") }
      : {}),
    ...(access.may("commit") ? commitVariable() : {}),
    ...(access.may("webhookKey") ? { [environmentNames.webhookKeySecretId]: webhookKey.secretArn } : {}),
    ...(access.may("secondFactorKey")
      ? { [environmentNames.secondFactorKeySecretId]: secondFactorKey.secretArn }
      : {}),
    ...(access.may("verificationKey")
      ? { [environmentNames.verificationKeySecretId]: verificationKey.secretArn }
      : {}),
    ...Object.fromEntries(
      access.queues.map((queue) => [environmentNames.queueUrl[queue], queues[queue].queue.queueUrl]),
    ),
  };
}

/** Whether customers have a method of payment. */
function acceptsPayments({ cards, bankTransfer }: Stage["payments"]): boolean {
  return cards !== "none" || bankTransfer !== undefined;
}

function commitVariable(): Record<string, string> {
  const commit = findCommit();
  return commit === undefined ? {} : { [environmentNames.commit]: commit };
}

/** Returns the policies of the stage. */
function policyVariables(policies: Stage["policies"]): Record<string, string> {
  const names: Readonly<Record<keyof Stage["policies"], string>> = environmentNames.policies;
  const values: Readonly<Record<string, boolean | string | readonly string[] | undefined>> = policies;
  return Object.fromEntries(
    Object.entries(names).map(([policy, variable]) => [variable, [values[policy]].flat().join(" ")]),
  );
}

/** Returns the limits of the stage, without those that it does not have. */
function limitVariables(limits: Stage["limits"]): Record<string, string> {
  const variables = {
    [environmentNames.dailySpendCap]: limits.dailySpendCap,
    [environmentNames.sendsPerSecond]: limits.sendsPerSecond,
    [environmentNames.oneTimeCodesPerNumber]: limits.oneTimeCodesPerNumberPer10Minutes,
    [environmentNames.transactionalMessagesPerNumber]: limits.transactionalMessagesPerNumberPer10Minutes,
    [environmentNames.marketingMessagesPerNumber]: limits.marketingMessagesPerNumberPerDay,
    [environmentNames.oneTimeCodeValiditySeconds]: limits.oneTimeCodeValiditySeconds,
    [environmentNames.registrationsPerAddress]: limits.registrationsPerAddressPerHour,
    [environmentNames.requestsPerSecond]: limits.requestsPerSecond,
    [environmentNames.unknownCredentialsPerAddress]: limits.unknownCredentialsPerAddressPer5Minutes,
    [environmentNames.webhooksBeforePayment]: limits.webhooksBeforePayment,
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, limit]) =>
      limit === undefined || limit === "none" ? [] : [[name, String(limit)]],
    ),
  );
}

/** Returns the settings for functions that queue emails, and for the one that sends them. */
function emailVariables(stage: Stage, access: Access): Record<string, string> {
  if (stage.email === undefined) return {};
  const { from, name = stage.brand.name, configurationSet } = stage.email;
  if (!access.may("email")) return { [environmentNames.emailFrom]: from };
  return {
    [environmentNames.emailFrom]: from,
    [environmentNames.emailName]: name,
    [environmentNames.operatorEmails]: stage.alarmEmails.join(" "),
    ...(configurationSet === undefined ? {} : { [environmentNames.emailConfigurationSet]: configurationSet }),
  };
}
