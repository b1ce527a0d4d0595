import * as z from "zod/mini";

import { problemsOfParty } from "../../../shared/money/invoices/characters.ts";
import { contrastProblems } from "./contrast.ts";
import { paymentProblems } from "./payment-checks.ts";
import { cloudFrontRegion, StageSettings } from "./settings.ts";
import { acceptedInFiveMinutes } from "./throttles.ts";

/** The rules between several settings. */
export const ConsistentSettings = StageSettings.check(
  z.superRefine((settings, context) => {
    const { account, region, domain, firewall, monthlyBudgetUsd, alarmEmails, email, policies, brand } =
      settings;
    const problem = (field: string[], message: string): void =>
      context.addIssue({ code: "custom", path: field, message });
    if (monthlyBudgetUsd !== undefined && alarmEmails.length === 0) {
      problem(["monthlyBudgetUsd"], "needs alarmEmails: they get the warnings");
    }
    if (settings.warmThroughput !== undefined && settings.adoptTableName !== undefined) {
      problem(["warmThroughput"], "must be set on the adopted table itself");
    }
    const { replicaRegion, adoptTableName, encryptionKeyArn } = settings;
    if (replicaRegion !== undefined) {
      if (region === undefined || replicaRegion === region)
        problem(["replicaRegion"], "needs region, and must be another one");
      if (adoptTableName !== undefined) problem(["replicaRegion"], "must be set on the adopted table itself");
      if (encryptionKeyArn !== undefined)
        problem(
          ["replicaRegion"],
          "cannot be used with encryptionKeyArn: the replica would need a key of its region",
        );
    }
    for (const [field, message] of paymentProblems(settings)) problem(["payments", ...field], message);
    // Invoices name the brand.
    for (const { path, message } of settings.payments.seller === undefined ? [] : problemsOfParty(brand)) {
      problem(["brand", path], message);
    }
    for (const [theme, message] of contrastProblems(brand.colors))
      problem(["brand", "colors", theme], message);
    if (policies.verifiedEmail === "before-sending" && email === undefined) {
      problem(["policies", "verifiedEmail"], "needs email: without it no user can verify an address");
    }
    for (const [field, accepted] of acceptedInFiveMinutes(settings.throttle)) {
      if (firewall === undefined || firewall[field] < accepted) continue;
      problem(
        ["firewall", field],
        `must be below ${accepted}, what throttle accepts from all callers in that time`,
      );
    }
    const { from = "", identity = from } = email ?? {};
    const [sender, verified] = [from.toLowerCase(), identity.toLowerCase()];
    if (sender !== verified && !sender.endsWith(`@${verified}`) && !sender.endsWith(`.${verified}`)) {
      problem(["email", "identity"], `must be ${from}, its domain, or one above it`);
    }
    const located = (field: string[], noun: string, found: string | undefined, wanted?: string): void => {
      // Without a place, the text is no ARN, which its own rule reports.
      if (found === undefined || found === "" || wanted === undefined || found === wanted) return;
      problem(field, `must be a ${noun} ${wanted}`);
    };
    for (const field of ["adoptWebhookKeyArn", "adoptSecondFactorKeyArn", "encryptionKeyArn"] as const) {
      located([field], "key in", settings[field]?.split(":")[3], region);
    }
    const [, , , regionOfArn, accountOfArn] = domain?.certificateArn.split(":") ?? [];
    const certificate = ["domain", "certificateArn"];
    located(certificate, "certificate in", regionOfArn, firewall === undefined ? region : cloudFrontRegion);
    located(certificate, "certificate of the account", accountOfArn, account);
  }),
);
