import type * as sdk from "@aws-sdk/client-kms";

import { AwsClient, type AwsClientOptions } from "./client.ts";
import { AwsCommand } from "./command.ts";

/** Its output has the key in base64. */
export class GetPublicKeyCommand extends AwsCommand<
  sdk.GetPublicKeyCommandInput,
  { readonly PublicKey?: string }
> {
  readonly operation = "GetPublicKey";
}

/** Its output has the signature in base64. */
export class SignCommand extends AwsCommand<sdk.SignCommandInput, { readonly Signature?: string }> {
  readonly operation = "Sign";
}

export class Kms extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "KMS",
        hostPrefix: "kms",
        signingName: "kms",
        target: "TrentService",
        contentType: "application/x-amz-json-1.1",
      },
      options,
    );
  }
}
