import { Annotations, type Stack } from "aws-cdk-lib";

import { weakTlsWarning } from "../deploy-arguments.ts";
import type { Stage } from "../stages/stage.ts";

/** Warns at the synthesis of what a stage lacks. A stage that keeps its data has customers. */
export function addWarnings(stack: Stack, stage: Stage): void {
  const { name, keepData, email, firewall, domain, brand, alarmEmails, pagerUrl, backups, monthlyBudgetUsd } =
    stage;
  const warnings: readonly (readonly [id: string, isLacking: boolean, text: string])[] = [
    [
      "sms-gateway:email-from",
      // Such a domain is reserved (RFC 2606), so SES would reject each email.
      /@example\.(com|net|org)$/i.test(email?.from ?? ""),
      `Emails of stage ${name} come from ${email?.from}, which is an example: set email.from in its file.`,
    ],
    [
      "sms-gateway:firewall",
      keepData && firewall === undefined,
      `Stage ${name} has no firewall: one address can use up what all customers may request, log-ins too. ` +
        "Set firewall in its file.",
    ],
    [
      weakTlsWarning,
      keepData && firewall !== undefined && domain === undefined,
      `Stage ${name} has a firewall and no domain, and CloudFront's own name accepts TLS 1.0: ` +
        "set domain in its file. npm run deploy rejects it.",
    ],
    [
      "sms-gateway:terms",
      keepData && brand.termsUrl === undefined,
      `The pages of stage ${name} link to no terms: set brand.termsUrl in its file.`,
    ],
    [
      "sms-gateway:alarms",
      keepData && alarmEmails.length === 0 && pagerUrl === undefined,
      `No one gets the alarms of stage ${name}: set alarmEmails or pagerUrl in its file.`,
    ],
    [
      "sms-gateway:backups",
      keepData && backups === undefined,
      `The table of stage ${name} has no copy outside of the table: set backups in its file.`,
    ],
    [
      "sms-gateway:budget",
      keepData && monthlyBudgetUsd === undefined,
      `No one gets to know when stage ${name} costs more than usual: set monthlyBudgetUsd in its file.`,
    ],
  ];
  for (const [id, isLacking, text] of warnings) if (isLacking) Annotations.of(stack).addWarningV2(id, text);
}
