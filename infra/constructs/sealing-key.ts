import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";

import type { Stage } from "../stages/stage.ts";
import type { Backend } from "./gateway-function.ts";

/** What lies sealed in the table, by the key that it is sealed with, and why that key is never changed by itself. */
const sealed = {
  WebhookKey: {
    adopted: "adoptWebhookKeyArn",
    description: "Seals the signing secrets of webhooks in the table",
    reason:
      "With a new key no secret in the table can be read, and each customer would have to replace theirs. The runbook " +
      "says what to do when it is known to others.",
  },
  SecondFactorKey: {
    adopted: "adoptSecondFactorKeyArn",
    description: "Seals the secrets of second factors in the table",
    reason:
      "With a new key no code of an app could be checked, and each user would need a recovery code to get in.",
  },
} as const;

/** A key of secrets in the table. It belongs to the table: whatever is restored or adopted needs it. */
export function sealingKey(scope: Construct, id: keyof typeof sealed, stage: Stage): Backend["webhookKey"] {
  const { adopted, description, reason } = sealed[id];
  const adoptedArn = stage[adopted];
  if (adoptedArn !== undefined) return Secret.fromSecretCompleteArn(scope, `Adopted${id}`, adoptedArn);
  const key = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: stage.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  Validations.of(key).acknowledge({ id: "AwsSolutions-SMG4", reason });
  return key;
}
