import {
  ConflictException,
  InternalServerException,
  PinpointSMSVoiceV2Client,
  ResourceNotFoundException,
  SendTextMessageCommand,
  ServiceQuotaExceededException,
  ThrottlingException,
  ValidationException,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, it } from "vitest";

import { awsCarrier } from "../../shared/carriers/aws.ts";
import type { OutgoingMessage } from "../../shared/carriers/carrier.ts";

// There is no emulator of this service, so its client is the one that is mocked.
const aws = mockClient(PinpointSMSVoiceV2Client);
beforeEach(() => {
  aws.reset();
});

const message: OutgoingMessage = {
  reference: "msg_1",
  to: "447700900123",
  from: "ACME",
  text: "hello",
  encoding: "GSM-7",
  isPromotional: false,
};

it("hands a message over in the service's terms, with our id as its context", async () => {
  aws.on(SendTextMessageCommand).resolves({ MessageId: "aws-1" });
  expect(await awsCarrier.send(message)).toEqual({ outcome: "accepted", carrierReference: "aws-1" });
  await awsCarrier.send({ ...message, isPromotional: true });
  expect(aws.commandCalls(SendTextMessageCommand).map(({ args }) => args[0].input)).toEqual([
    {
      DestinationPhoneNumber: "+447700900123",
      OriginationIdentity: "ACME",
      MessageBody: "hello",
      MessageType: "TRANSACTIONAL",
      Context: { reference: "msg_1" },
    },
    expect.objectContaining({ MessageType: "PROMOTIONAL" }),
  ]);
});

const details = { message: "a word of the carrier", $metadata: {} };

it.each([
  ["throttling", new ThrottlingException(details), { outcome: "tryLater" }],
  ["a spent quota", new ServiceQuotaExceededException(details), { outcome: "tryLater" }],
  [
    "a number that cannot be",
    new ValidationException({ ...details, Fields: [{ Name: "DestinationPhoneNumber", Message: "invalid" }] }),
    { outcome: "refused", errorCode: "MESSAGE_INVALID_DESTINATION" },
  ],
  [
    "another field that is wrong",
    new ValidationException(details),
    { outcome: "refused", errorCode: "MESSAGE_PROVIDER_ERROR" },
  ],
  [
    "a number that has opted out",
    new ConflictException(details),
    { outcome: "refused", errorCode: "MESSAGE_UNROUTABLE" },
  ],
  [
    "an unknown sender ID",
    new ResourceNotFoundException(details),
    { outcome: "refused", errorCode: "MESSAGE_PROVIDER_ERROR" },
  ],
] as const)("takes %s for a clear answer", async (_name, error, handOff) => {
  aws.on(SendTextMessageCommand).rejects(error);
  expect(await awsCarrier.send(message)).toEqual(handOff);
});

it.each([new InternalServerException(details), new Error("socket hang up")])(
  "takes %s for an unknown outcome, so that nobody sends twice",
  async (error) => {
    aws.on(SendTextMessageCommand).rejects(error);
    await expect(awsCarrier.send(message)).rejects.toThrow(error.message);
    expect(aws.commandCalls(SendTextMessageCommand)).toHaveLength(1);
  },
);
