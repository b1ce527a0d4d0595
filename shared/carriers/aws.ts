import {
  ConflictException,
  PinpointSMSVoiceV2Client,
  PinpointSMSVoiceV2ServiceException,
  ResourceNotFoundException,
  SendTextMessageCommand,
  ServiceQuotaExceededException,
  ThrottlingException,
  ValidationException,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";

import { log } from "../platform/log.ts";
import { countMetrics } from "../platform/metrics.ts";
import { CarefulRetryStrategy } from "../platform/table/retry.ts";
import type { Carrier, HandOff, OutgoingMessage } from "./carrier.ts";
import { wasNeverSent } from "./never-sent.ts";

const client = new PinpointSMSVoiceV2Client({
  // A lost answer may mean a message that was sent, so it is not asked for again.
  retryStrategy: new CarefulRetryStrategy(1),
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 5_000,
    throwOnRequestTimeout: true,
    // A connection that was kept may have died while the function was frozen, and a message that goes into a dead one is
    // as unknown as one whose answer was lost.
    httpsAgent: { keepAlive: false },
    httpAgent: { keepAlive: false },
  },
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
      const handOff = handOffOf(error, message.reference);
      if (handOff === undefined) throw error;
      return handOff;
    }
  },
};

/** What an error says about the message, or undefined when it may have been taken all the same. */
function handOffOf(error: unknown, messageId: string): HandOff | undefined {
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
  if (!wasNeverSent(error) && !wasTurnedAway(error)) return undefined;
  // Nothing is wrong with the message: it waits until the operator has seen to the stage.
  log.error("carrier.not_reached", { messageId, errorCode: error instanceof Error ? error.name : undefined });
  countMetrics({ CarrierNotReached: 1 });
  return { outcome: "tryLater" };
}

/** Whether AWS refused the request for what we are, such as a permission or a credential that is missing. */
function wasTurnedAway(error: unknown): boolean {
  if (error instanceof Error && error.name === "CredentialsProviderError") return true;
  if (!(error instanceof PinpointSMSVoiceV2ServiceException)) return false;
  const { httpStatusCode = 0 } = error.$metadata;
  return httpStatusCode >= 400 && httpStatusCode <= 499;
}
