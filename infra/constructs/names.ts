/**
 * The log groups of a stage. They have names of their own so that an alarm and the runbook can say which to look into.
 * Only what would have the stack's name could have theirs. Those of a stage that keeps its data stay when the stack goes, and a
 * later stack of the same name imports them. API Gateway adds to one policy
 * of the account for each group that it writes to, but for those in this folder.
 */
export function logGroupNames(stackName: string): Readonly<Record<"access" | "api" | "workers", string>> {
  return {
    access: `/aws/vendedlogs/${stackName}/access`,
    api: `/${stackName}/api`,
    workers: `/${stackName}/workers`,
  };
}

/** What the secrets of a stage's carriers are called: this, and the carrier's name behind it. */
export function carrierSecretPrefix(stackName: string): string {
  return `${stackName}/carriers/`;
}

/** The same of what a carrier's calls back are verified with, where that is more than their token. */
export function callbackSecretPrefix(stackName: string): string {
  return `${stackName}/callbacks/`;
}

/** The name of a row or a tag as the id of a construct: `sendSms` is `SendSms`, and `sender-ids` is `SenderIds`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of a row as the name of a file: `sendSms` is `send-sms`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
