import { errorTypeRegistries } from "@aws-sdk/client-secrets-manager";

import { AwsClient, type AwsClientOptions } from "./client.ts";

export class SecretsManager extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "SECRETS_MANAGER",
        hostPrefix: "secretsmanager",
        signingName: "secretsmanager",
        target: "secretsmanager",
        contentType: "application/x-amz-json-1.1",
        errors: errorTypeRegistries,
      },
      options,
    );
  }
}
