import { beforeEach, expect, it, vi } from "vitest";

import type { OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import type { SettingsOf } from "../../shared/carriers/settings.ts";
import { EndUserMessaging } from "../../shared/platform/aws/end-user-messaging.ts";
import { AwsError } from "../../shared/platform/aws/errors.ts";

// There is no emulator of this service, so its client is the one that is mocked.
const send = vi.spyOn(EndUserMessaging.prototype, "send");
beforeEach(() => {
  send.mockReset().mockResolvedValue({ MessageId: "aws-1" });
});

/** The inputs of the commands that were sent. */
function inputs(): Record<string, unknown>[] {
  return send.mock.calls.map(([{ input }]) => ({ ...input }));
}

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
  expect(await awsCarrier.send(message)).toEqual({ outcome: "accepted", carrierReference: "aws-1" });
  await awsCarrier.send({ ...message, isPromotional: true, validitySeconds: 599 });
  expect(inputs()).toEqual([
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
  expect(inputs()[0]).toEqual({
    DestinationPhoneNumber: "+12065550100",
    OriginationIdentity: "pool-1",
    MessageBody: "hello",
    MessageType: "TRANSACTIONAL",
    ConfigurationSetName: "receipts",
    MaxPrice: "0.05",
    ProtectConfigurationId: "protect-1",
    Context: { reference: "org_1.msg_1" },
  });
  expect(
    inputs()
      .slice(1)
      .map(({ OriginationIdentity }) => OriginationIdentity),
  ).toEqual(["+447700900000", "ACME", "ACME"]);
});

it("sends from the default identity to countries that have none, and to numbers of no country", async () => {
  const carrier = awsWith({ originationIdentities: { US: "pool-1", default: "pool-2" } });
  await carrier.send({ ...message, country: "FR" });
  await carrier.send({ ...message, to: "88299999999" });
  expect(inputs().map(({ OriginationIdentity }) => OriginationIdentity)).toEqual(["pool-2", "pool-2"]);
});

it("sends from the number of a customer, whatever the settings have", async () => {
  const carrier = awsWith({ originationIdentities: { US: "pool-1", default: "pool-2" } });
  await carrier.send({ ...message, from: "442079460000", isFromNumber: true });
  expect(inputs().map(({ OriginationIdentity }) => OriginationIdentity)).toEqual(["+442079460000"]);
});

const failure = (name: string, details: object = {}): AwsError =>
  new AwsError({ name, message: "a word of the carrier", ...details });

const rejected = (errorCode: string, providerCode: string) =>
  ({ outcome: "rejected", errorCode, providerCode }) as const;

it.each([
  [
    "throttling",
    failure("ThrottlingException"),
    { outcome: "throttled", providerCode: "ThrottlingException" },
  ],
  [
    "a spent quota",
    failure("ServiceQuotaExceededException", { Reason: "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT" }),
    { outcome: "throttled", providerCode: "MONTHLY_SPEND_LIMIT_REACHED_FOR_" },
  ],
  [
    "a number that cannot be",
    failure("ValidationException", { Fields: [{ Name: "DestinationPhoneNumber", Message: "invalid" }] }),
    rejected("MESSAGE_INVALID_DESTINATION", "ValidationException"),
  ],
  [
    "another field that is wrong",
    failure("ValidationException", { Reason: "INVALID_PARAMETER" }),
    rejected("MESSAGE_PROVIDER_ERROR", "INVALID_PARAMETER"),
  ],
  [
    "a number that has opted out",
    failure("ConflictException", { Reason: "DESTINATION_PHONE_NUMBER_OPTED_OUT" }),
    rejected("MESSAGE_RECIPIENT_OPTED_OUT", "DESTINATION_PHONE_NUMBER_OPTED_O"),
  ],
  [
    "a country that is blocked",
    failure("ConflictException", { Reason: "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION" }),
    rejected("MESSAGE_UNROUTABLE", "DESTINATION_COUNTRY_BLOCKED_BY_P"),
  ],
  ["another conflict", failure("ConflictException"), rejected("MESSAGE_UNROUTABLE", "ConflictException")],
  [
    "an unknown sender ID",
    failure("ResourceNotFoundException"),
    rejected("MESSAGE_PROVIDER_ERROR", "ResourceNotFoundException"),
  ],
  [
    "a permission that is missing",
    failure("AccessDeniedException", { $metadata: { httpStatusCode: 400 } }),
    { outcome: "unreachable", reason: "AccessDeniedException", providerCode: "AccessDeniedException" },
  ],
] as const)("%s is a known outcome", async (_name, error, result) => {
  send.mockRejectedValue(error);
  expect(await awsCarrier.send(message)).toEqual(result);
});

it.each([failure("InternalServerException"), new Error("socket hang up")])(
  "%s is an unknown outcome, so that no message is sent twice",
  async (error) => {
    send.mockRejectedValue(error);
    await expect(awsCarrier.send(message)).rejects.toThrow(error.message);
    expect(send).toHaveBeenCalledOnce();
  },
);
