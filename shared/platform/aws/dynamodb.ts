import { errorTypeRegistries } from "@aws-sdk/client-dynamodb";

import { AwsClient, type AwsClientOptions } from "./client.ts";

export class DynamoDb extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "DYNAMODB",
        hostPrefix: "dynamodb",
        signingName: "dynamodb",
        target: "DynamoDB_20120810",
        contentType: "application/x-amz-json-1.0",
        errors: errorTypeRegistries,
      },
      options,
    );
  }
}
