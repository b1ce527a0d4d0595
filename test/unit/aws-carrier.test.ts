import {
  AccessDeniedException,
  ConflictException,
  InternalServerException,
  ResourceNotFoundException,
  SendTextMessageCommand,
  ServiceQuotaExceededException,
  ThrottlingException,
  ValidationException,
  type PinpointSMSVoiceV2ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";
import { beforeEach, expect, it } from "vitest";

import type { OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import type { SettingsOf } from "../../shared/carriers/settings.ts";
import { EndUserMessaging } from "../../shared/platform/aws/end-user-messaging.ts";
import { mockAws } from "../support/mock-aws.ts";

// There is no emulator of this service, so its client is the one that is mocked.
const aws = mockAws<ServiceInputTypes, ServiceOutputTypes, PinpointSMSVoiceV2ClientResolvedConfig>(
  EndUserMessaging,
);
beforeEach(() => {
  aws.reset();
});

/** A carrier of the kind with settings of its own. */
function awsWith(settings: Partial<SettingsOf<"aws">>): ReturnType<typeof carrierOf> {
  return carrierOf({ name: "aws", settings: { kind: "aws", originationIdentities: {}, ...settings } });
}
const awsCarrier = awsWith({});

const message: OutgoingMessage = {
  reference: "org_1.msg_1",
  to: "447700900123",
  from: "ACME",
  text: "hello",
  encoding: "GSM-7",
  isPromotional: false,
};

it("submits a message in the service's terms, with our id as its context", async () => {
  aws.on(SendTextMessageCommand).resolves({ MessageId: "aws-1" });
  expect(await awsCarrier.send(message)).toEqual({ outcome: "accepted", carrierReference: "aws-1" });
  await awsCarrier.send({ ...message, isPromotional: true, validitySeconds: 599 });
  expect(aws.commandCalls(SendTextMessageCommand).map(({ args }) => args[0].input)).toEqual([
    {
      DestinationPhoneNumber: "+447700900123",
      OriginationIdentity: "ACME",
      MessageBody: "hello",
      MessageType: "TRANSACTIONAL",
      Context: { reference: "org_1.msg_1" },
    },
    expect.objectContaining({ MessageType: "PROMOTIONAL", TimeToLive: 599 }),
  ]);
});

it("sends the settings under the service's names of fields", async () => {
  aws.on(SendTextMessageCommand).resolves({ MessageId: "aws-1" });
  const carrier = awsWith({
    configurationSetName: "receipts",
    protectConfigurationId: "protect-1",
    maxPrice: "0.05",
    originationIdentities: { US: "pool-1", GB: "+447700900000" },
  });
  await carrier.send({ ...message, to: "12065550100", country: "US" });
  await carrier.send({ ...message, country: "GB" });
  await carrier.send({ ...message, to: "33600000000", country: "FR" });
  await carrier.send({ ...message, to: "88299999999" });
  const inputs = aws.commandCalls(SendTextMessageCommand).map(({ args }) => args[0].input);
  expect(inputs[0]).toEqual({
    DestinationPhoneNumber: "+12065550100",
    OriginationIdentity: "pool-1",
    MessageBody: "hello",
    MessageType: "TRANSACTIONAL",
    ConfigurationSetName: "receipts",
    MaxPrice: "0.05",
    ProtectConfigurationId: "protect-1",
    Context: { reference: "org_1.msg_1" },
  });
  expect(inputs.slice(1).map(({ OriginationIdentity }) => OriginationIdentity)).toEqual([
    "+447700900000",
    "ACME",
    "ACME",
  ]);
});

it("sends from the default identity to countries that have none, and to numbers of no country", async () => {
  aws.on(SendTextMessageCommand).resolves({ MessageId: "aws-1" });
  const carrier = awsWith({ originationIdentities: { US: "pool-1", default: "pool-2" } });
  await carrier.send({ ...message, country: "FR" });
  await carrier.send({ ...message, to: "88299999999" });
  const inputs = aws.commandCalls(SendTextMessageCommand).map(({ args }) => args[0].input);
  expect(inputs.map(({ OriginationIdentity }) => OriginationIdentity)).toEqual(["pool-2", "pool-2"]);
});

const details = { message: "a word of the carrier", $metadata: {} };

const rejected = (errorCode: string, providerCode: string) =>
  ({ outcome: "rejected", errorCode, providerCode }) as const;

it.each([
  [
    "throttling",
    new ThrottlingException(details),
    { outcome: "throttled", providerCode: "ThrottlingException" },
  ],
  [
    "a spent quota",
    new ServiceQuotaExceededException({ ...details, Reason: "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT" }),
    { outcome: "throttled", providerCode: "MONTHLY_SPEND_LIMIT_REACHED_FOR_" },
  ],
  [
    "a number that cannot be",
    new ValidationException({ ...details, Fields: [{ Name: "DestinationPhoneNumber", Message: "invalid" }] }),
    rejected("MESSAGE_INVALID_DESTINATION", "ValidationException"),
  ],
  [
    "another field that is wrong",
    new ValidationException({ ...details, Reason: "INVALID_PARAMETER" }),
    rejected("MESSAGE_PROVIDER_ERROR", "INVALID_PARAMETER"),
  ],
  [
    "a number that has opted out",
    new ConflictException({ ...details, Reason: "DESTINATION_PHONE_NUMBER_OPTED_OUT" }),
    rejected("MESSAGE_RECIPIENT_OPTED_OUT", "DESTINATION_PHONE_NUMBER_OPTED_O"),
  ],
  [
    "a country that is blocked",
    new ConflictException({ ...details, Reason: "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION" }),
    rejected("MESSAGE_UNROUTABLE", "DESTINATION_COUNTRY_BLOCKED_BY_P"),
  ],
  ["another conflict", new ConflictException(details), rejected("MESSAGE_UNROUTABLE", "ConflictException")],
  [
    "an unknown sender ID",
    new ResourceNotFoundException(details),
    rejected("MESSAGE_PROVIDER_ERROR", "ResourceNotFoundException"),
  ],
  [
    "a permission that is missing",
    new AccessDeniedException({ ...details, $metadata: { httpStatusCode: 400 } }),
    { outcome: "unreachable", reason: "AccessDeniedException", providerCode: "AccessDeniedException" },
  ],
] as const)("%s is a known outcome", async (_name, error, result) => {
  aws.on(SendTextMessageCommand).rejects(error);
  expect(await awsCarrier.send(message)).toEqual(result);
});

it.each([new InternalServerException(details), new Error("socket hang up")])(
  "%s is an unknown outcome, so that no message is sent twice",
  async (error) => {
    aws.on(SendTextMessageCommand).rejects(error);
    await expect(awsCarrier.send(message)).rejects.toThrow(error.message);
    expect(aws.commandCalls(SendTextMessageCommand)).toHaveLength(1);
  },
);
