import type * as sdk from "@aws-sdk/client-secrets-manager";

import { AwsClient, type AwsClientOptions } from "./client.ts";
import { AwsCommand } from "./command.ts";

export class GetSecretValueCommand extends AwsCommand<
  sdk.GetSecretValueCommandInput,
  sdk.GetSecretValueCommandOutput
> {
  readonly operation = "GetSecretValue";
}

export class CreateSecretCommand extends AwsCommand<
  sdk.CreateSecretCommandInput,
  sdk.CreateSecretCommandOutput
> {
  readonly operation = "CreateSecret";
}

export class PutSecretValueCommand extends AwsCommand<
  sdk.PutSecretValueCommandInput,
  sdk.PutSecretValueCommandOutput
> {
  readonly operation = "PutSecretValue";
}

export class DeleteSecretCommand extends AwsCommand<
  sdk.DeleteSecretCommandInput,
  sdk.DeleteSecretCommandOutput
> {
  readonly operation = "DeleteSecret";
}

export class SecretsManager extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "SECRETS_MANAGER",
        hostPrefix: "secretsmanager",
        signingName: "secretsmanager",
        target: "secretsmanager",
        contentType: "application/x-amz-json-1.1",
      },
      options,
    );
  }
}
