import type * as sdk from "@aws-sdk/client-sesv2";

import { AwsClient, type AwsClientOptions } from "./client.ts";
import { AwsCommand } from "./command.ts";

export class SendEmailCommand extends AwsCommand<sdk.SendEmailCommandInput, sdk.SendEmailCommandOutput> {
  readonly operation = "SendEmail";
  override readonly path = "/v2/email/outbound-emails";
}

export class Ses extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "SESV2",
        hostPrefix: "email",
        signingName: "ses",
        contentType: "application/json",
      },
      options,
    );
  }
}
