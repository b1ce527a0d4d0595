import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { Secret, type SecretProps } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";

import type { Stage } from "../stages/stage.ts";
import type { Backend } from "./backend.ts";
import { removalPolicyOf } from "./removal-policy.ts";

/** The keys for sealed values in the table by their ids, each with the reason why it is not rotated automatically. */
export const sealingKeys = {
  WebhookKey: {
    kind: "webhooks",
    sealed: "the secrets of webhooks",
    adopted: "adoptWebhookKeyArn",
    description: "Seals the signing secrets of webhooks in the table",
    reason:
      "With a new key alone no secret in the table can be read, and each customer would have to replace theirs. The runbook " +
      "has the steps that keep the old key for reading.",
  },
  SecondFactorKey: {
    kind: "secondFactors",
    sealed: "the secrets of second factors",
    adopted: "adoptSecondFactorKeyArn",
    description: "Seals the secrets of second factors in the table",
    reason:
      "With a new key alone no code of an app could be checked, and each user would need a recovery code to log in.",
  },
} as const;

/** Returns a key for secrets in the table. A restored or adopted table needs the same key. */
export function sealingKey(
  scope: Construct,
  id: keyof typeof sealingKeys,
  stage: Stage,
): Backend["webhookKey"] {
  const { adopted, description, reason } = sealingKeys[id];
  const adoptedArn = stage[adopted];
  if (adoptedArn !== undefined) return Secret.fromSecretCompleteArn(scope, `Adopted${id}`, adoptedArn);
  return generatedSecret(scope, id, { description, reason, removalPolicy: removalPolicyOf(stage) });
}

/** Returns the key of the codes of verifications, which live for an hour at most. So neither a table nor a stack keeps it. */
export function verificationKey(scope: Construct): Backend["verificationKey"] {
  return generatedSecret(scope, "VerificationKey", {
    description: "Derives and seals the codes of verifications",
    reason:
      "With a new key alone no pending code could be checked. The runbook has the steps that keep the old one.",
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

/** Returns a secret that AWS generates. @param reason why it is not rotated automatically */
export function generatedSecret(
  scope: Construct,
  id: string,
  { reason, ...props }: SecretProps & { readonly reason: string },
): Secret {
  const secret = new Secret(scope, id, {
    ...props,
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
  });
  Validations.of(secret).acknowledge({ id: "AwsSolutions-SMG4", reason });
  return secret;
}
