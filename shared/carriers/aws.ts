import {
  ConflictException,
  PinpointSMSVoiceV2Client,
  ResourceNotFoundException,
  SendTextMessageCommand,
  ServiceQuotaExceededException,
  ThrottlingException,
  ValidationException,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";

import { CarefulRetryStrategy } from "../platform/table/retry.ts";
import type { HandOff, OutgoingMessage, Carrier } from "./carrier.ts";

const client = new PinpointSMSVoiceV2Client({
  // A lost answer may mean a message that was sent, so it is not asked for again.
  retryStrategy: new CarefulRetryStrategy(1),
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
});

/** AWS End User Messaging. The sender ID must be registered there, where the destination's country asks for it. */
export const awsCarrier: Carrier = {
  deduplicates: false,
  async send(message: OutgoingMessage): Promise<HandOff> {
    try {
      const { MessageId } = await client.send(
        new SendTextMessageCommand({
          DestinationPhoneNumber: `+${message.to}`,
          OriginationIdentity: message.from,
          MessageBody: message.text,
          MessageType: message.isPromotional ? "PROMOTIONAL" : "TRANSACTIONAL",
          Context: { reference: message.reference },
        }),
      );
      return { outcome: "accepted", carrierReference: MessageId ?? "" };
    } catch (error) {
      const handOff = refusalOf(error);
      if (handOff === undefined) throw error;
      return handOff;
    }
  },
};

/** What an error says about the message, or undefined when it may have been taken all the same. */
function refusalOf(error: unknown): HandOff | undefined {
  if (error instanceof ThrottlingException || error instanceof ServiceQuotaExceededException) {
    return { outcome: "tryLater" };
  }
  if (error instanceof ValidationException) {
    const isDestination = error.Fields?.some(({ Name }) => Name === "DestinationPhoneNumber") === true;
    return {
      outcome: "refused",
      errorCode: isDestination ? "MESSAGE_INVALID_DESTINATION" : "MESSAGE_PROVIDER_ERROR",
    };
  }
  // An opted-out number or blocked country, and a sender ID that is not registered.
  if (error instanceof ConflictException) return { outcome: "refused", errorCode: "MESSAGE_UNROUTABLE" };
  if (error instanceof ResourceNotFoundException) {
    return { outcome: "refused", errorCode: "MESSAGE_PROVIDER_ERROR" };
  }
  return undefined;
}
