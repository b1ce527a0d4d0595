import type { GetSecretValueCommandOutput } from "@aws-sdk/client-secrets-manager";
import { mockClient, type AwsStub } from "aws-sdk-client-mock";

import type { AwsClient } from "../../shared/platform/aws/client.ts";

type Output = Pick<GetSecretValueCommandOutput, "$metadata">;

/**
 * Replaces the `send` of a client by a stub with the responses of a test. It has the SDK's types of the service.
 */
export function mockAws<Inputs extends object, Outputs extends Output, Config>(client: {
  readonly prototype: AwsClient;
}): AwsStub<Inputs, Outputs, Config> {
  // Our client has of the SDK's what the stub takes the place of.
  return mockClient<Inputs, Outputs, Config>(Object(client));
}
