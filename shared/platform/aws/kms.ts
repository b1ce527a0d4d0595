import { errorTypeRegistries } from "@aws-sdk/client-kms";

import { AwsClient, type AwsClientOptions } from "./client.ts";

export class Kms extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "KMS",
        hostPrefix: "kms",
        signingName: "kms",
        target: "TrentService",
        contentType: "application/x-amz-json-1.1",
        errors: errorTypeRegistries,
      },
      options,
    );
  }
}
