import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { KMSClient } from "@aws-sdk/client-kms";
import { PinpointSMSVoiceV2Client } from "@aws-sdk/client-pinpoint-sms-voice-v2";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SESv2Client } from "@aws-sdk/client-sesv2";
import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it, vi } from "vitest";

import { endpointOf } from "../../shared/platform/aws/endpoint.ts";

/*
 * The endpoints of AWS, against those of the SDK's clients.
 */

const configuration = { region: "eu-west-1" };
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("an endpoint is where the SDK looks for it", () => {
  const regions = [
    "us-east-1",
    "eu-central-1",
    "ap-southeast-7",
    "us-gov-west-1",
    "us-gov-east-1",
    "cn-north-1",
    "us-iso-east-1",
    "us-isob-east-1",
    "eusc-de-east-1",
  ];
  const clients = [
    ["DYNAMODB", "dynamodb", new DynamoDBClient(configuration)],
    ["SQS", "sqs", new SQSClient(configuration)],
    ["KMS", "kms", new KMSClient(configuration)],
    ["SECRETS_MANAGER", "secretsmanager", new SecretsManagerClient(configuration)],
    ["SESV2", "email", new SESv2Client(configuration)],
    ["PINPOINT_SMS_VOICE_V2", "sms-voice", new PinpointSMSVoiceV2Client(configuration)],
    ["S3", "s3", new S3Client(configuration)],
  ] as const;
  it.each(clients)("%s", (id, hostPrefix, client) => {
    const [found, expected]: string[][] = [[], []];
    for (const region of regions) {
      for (const [UseFIPS, UseDualStack] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ] as const) {
        vi.stubEnv("AWS_USE_FIPS_ENDPOINT", String(UseFIPS));
        vi.stubEnv("AWS_USE_DUALSTACK_ENDPOINT", String(UseDualStack));
        const asked = `${region} ${UseFIPS ? "FIPS" : ""} ${UseDualStack ? "dual stack" : ""}`;
        try {
          expected?.push(
            `${asked} ${client.config.endpointProvider({ Region: region, UseFIPS, UseDualStack }).url.href}`,
          );
        } catch {
          // There is none of the kind in this part of AWS.
          continue;
        }
        found?.push(`${asked} ${endpointOf({ id, hostPrefix }, region).href}`);
      }
    }
    expect(found).toEqual(expected);
  });

  it("the environment names one for a service, or one for all", () => {
    const service = { id: "SQS", hostPrefix: "sqs" };
    vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:2");
    expect(endpointOf(service, "eu-west-1").href).toBe("http://127.0.0.1:2/");
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:1");
    expect(endpointOf(service, "eu-west-1").href).toBe("http://127.0.0.1:1/");
    expect(endpointOf({ ...service, id: "KMS" }, "eu-west-1").href).toBe("http://127.0.0.1:2/");
  });
});
