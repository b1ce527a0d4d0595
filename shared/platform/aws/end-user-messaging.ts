import type * as sdk from "@aws-sdk/client-pinpoint-sms-voice-v2";

import { AwsClient, type AwsClientOptions } from "./client.ts";
import { AwsCommand } from "./command.ts";

export class SendTextMessageCommand extends AwsCommand<
  sdk.SendTextMessageCommandInput,
  sdk.SendTextMessageCommandOutput
> {
  readonly operation = "SendTextMessage";
}

export class EndUserMessaging extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "PINPOINT_SMS_VOICE_V2",
        hostPrefix: "sms-voice",
        signingName: "sms-voice",
        target: "PinpointSMSVoiceV2",
        contentType: "application/x-amz-json-1.0",
      },
      options,
    );
  }
}
