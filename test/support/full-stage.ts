import { StageSettings, type Stage } from "../../infra/stages/stage.ts";

/** A stage that has all that a stage can have, in a region that CloudFront's own things cannot be in. */
export const fullStage: Stage = {
  name: "full",
  ...StageSettings.parse({
    account: "123456789012",
    region: "eu-west-1",
    carrier: "aws",
    keepData: true,
    policies: {
      senderIds: "approved",
      kyc: "before-sending",
      verifiedEmail: "before-sending",
      countries: ["GB", "XK"],
      passwords: "uncommon",
      redactOneTimeCodes: true,
      apiKeysManageKeys: true,
    },
    topUpEnabled: true,
    webhookTargets: "public",
    docsEnabled: true,
    corsOrigins: ["https://example.com"],
    throttle: {
      rateLimit: 500,
      burstLimit: 500,
      operations: { register: { rateLimit: 5, burstLimit: 5 } },
    },
    limits: {
      dailySpendCap: "100.00",
      sendsPerSecond: 20,
      oneTimeCodesPerNumber: 5,
      registrationsPerAddress: 20,
      webhooksBeforePayment: 3,
    },
    domain: {
      name: "sms.example.com",
      certificateArn: "arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-0000-0000-000000000000",
      hostedZoneId: "Z0123456789",
    },
    firewall: { requestsPerAddressInFiveMinutes: 3_000 },
    alarmEmails: ["operations@example.com"],
    monthlyBudgetUsd: 100,
    monthlyCarrierSpendUsd: 1_000,
    logRetentionDays: 365,
    messageRetentionDays: 90,
    workerConcurrency: { transactionalSends: 20 },
    reservedConcurrency: { login: 10 },
    gradualDeployment: true,
    encryptionKeyArn: "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000",
    backups: {
      retentionDays: 35,
      copyToVaultArn: "arn:aws:backup:eu-central-1:210987654321:backup-vault:copies",
    },
    tags: { team: "messaging" },
  }),
};
