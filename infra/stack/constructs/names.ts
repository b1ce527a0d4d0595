/**
 * Returns the names of a stage's log groups. They are fixed, so that alarms and the runbook can name them. A stage that keeps
 * its data keeps the groups when its stack is deleted, and a later stack of the same name imports them. For a group outside
 * `/aws/vendedlogs` API Gateway would extend a policy of the account.
 */
export function logGroupNames(stackName: string): Readonly<Record<"access" | "api" | "workers", string>> {
  return {
    access: `/aws/vendedlogs/${stackName}/access`,
    api: `/${stackName}/api`,
    workers: `/${stackName}/workers`,
  };
}

/** Returns the prefix for the secrets of a stage's carriers. The name of the carrier follows it. */
export function carrierSecretPrefix(stackName: string): string {
  return `${stackName}/carriers/`;
}

/** Returns the prefix for the secrets that verify carrier callbacks, where these have more than their token. */
export function callbackSecretPrefix(stackName: string): string {
  return `${stackName}/callbacks/`;
}

/** Returns the name of the secret with the keys of the payment provider. `payments connect` writes it. */
export function paymentSecretName(stackName: string): string {
  return `${stackName}/payments/stripe`;
}

/** The name of a row or a tag as the id of a construct: `sendSms` is `SendSms`, and `sender-ids` is `SenderIds`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of a row as the name of a file: `sendSms` is `send-sms`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
