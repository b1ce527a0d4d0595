import { errorTypeRegistries } from "@aws-sdk/client-sesv2";

import { AwsClient, type AwsClientOptions } from "./client.ts";

export class Ses extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "SESV2",
        hostPrefix: "email",
        signingName: "ses",
        contentType: "application/json",
        errors: errorTypeRegistries,
      },
      options,
    );
  }
}
