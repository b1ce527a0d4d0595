import { EndUserMessaging, SendTextMessageCommand } from "../platform/aws/end-user-messaging.ts";
import { AwsError } from "../platform/aws/errors.ts";
import { patientAttempts } from "../platform/aws/retry.ts";
import type { SubmitResult, OutgoingMessage } from "./carrier.ts";
import { wasNeverSent } from "./never-sent.ts";
import { providerCodeOf } from "./provider-code.ts";
import { withPlusSign } from "./sender-number.ts";
import type { SettingsOf } from "./settings.ts";

const client = new EndUserMessaging({
  maxAttempts: patientAttempts,
  // After a lost response the message may have been sent, so the request is not repeated.
  maxUnheardAttempts: 1,
  timeLimits: { requestMs: 5_000 },
  // A kept connection may have died while the function was frozen. A message that is written to a dead connection has
  // an unknown outcome, as after a lost response.
  keepsConnections: false,
});

/**
 * Submits a message to AWS End User Messaging. Some destination countries require that its origin is registered there.
 * @throws Error when it is not known whether AWS accepted it
 */
export async function sendWithAws(
  { originationIdentities, configurationSetName, maxPrice, protectConfigurationId }: SettingsOf<"aws">,
  message: OutgoingMessage,
): Promise<SubmitResult> {
  const { country = "default" } = message;
  const identities = new Map(Object.entries(originationIdentities));
  try {
    const { MessageId } = await client.send(
      new SendTextMessageCommand({
        DestinationPhoneNumber: `+${message.to}`,
        OriginationIdentity:
          message.isFromNumber === true
            ? withPlusSign(message.from)
            : (identities.get(country) ?? identities.get("default") ?? message.from),
        MessageBody: message.text,
        MessageType: message.isPromotional ? "PROMOTIONAL" : "TRANSACTIONAL",
        ...(configurationSetName === undefined ? {} : { ConfigurationSetName: configurationSetName }),
        ...(maxPrice === undefined ? {} : { MaxPrice: maxPrice }),
        ...(protectConfigurationId === undefined ? {} : { ProtectConfigurationId: protectConfigurationId }),
        ...(message.validitySeconds === undefined ? {} : { TimeToLive: message.validitySeconds }),
        Context: { reference: message.reference },
      }),
    );
    return { outcome: "accepted", carrierReference: MessageId };
  } catch (error) {
    const result = submitResultOf(error);
    if (result === undefined) throw error;
    return result;
  }
}

/** Returns the outcome that an error proves, or undefined when AWS may have accepted the message. */
function submitResultOf(error: unknown): SubmitResult | undefined {
  const providerCode = codeOf(error);
  const { Fields, Reason }: ErrorDetails = Object(error);
  const name: string = error instanceof AwsError ? error.name : "";
  switch (name) {
    case "ThrottlingException":
    case "ServiceQuotaExceededException":
      return { outcome: "throttled", providerCode };
    case "ValidationException": {
      const isDestination = Fields?.some(({ Name }) => Name === "DestinationPhoneNumber") === true;
      const errorCode = isDestination ? "MESSAGE_INVALID_DESTINATION" : "MESSAGE_PROVIDER_ERROR";
      return { outcome: "rejected", errorCode, providerCode };
    }
    case "ConflictException": {
      // A blocked country, a price above the limit, or a sender ID that is not registered: other carriers may accept the
      // message.
      const isOptedOut = Reason === "DESTINATION_PHONE_NUMBER_OPTED_OUT";
      const errorCode = isOptedOut ? "MESSAGE_RECIPIENT_OPTED_OUT" : "MESSAGE_UNROUTABLE";
      return { outcome: "rejected", errorCode, providerCode };
    }
    case "ResourceNotFoundException":
      return { outcome: "rejected", errorCode: "MESSAGE_PROVIDER_ERROR", providerCode };
  }
  if (!wasNeverSent(error) && !wasTurnedAway(error)) return undefined;
  return { outcome: "unreachable", reason: error instanceof Error ? error.name : "unknown", providerCode };
}

/** The members of an error of the service. */
interface ErrorDetails {
  readonly Reason?: string;
  readonly Fields?: readonly { readonly Name?: string }[] | null;
}

/** Returns the reason that AWS gives, or else the name of the exception. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const reason = "Reason" in error ? error.Reason : "code" in error ? error.code : undefined;
  return providerCodeOf(reason) ?? providerCodeOf(error.name);
}

/** Whether AWS rejected the request because of the gateway, such as a missing permission or credential. */
function wasTurnedAway(error: unknown): boolean {
  if (error instanceof Error && error.name === "CredentialsProviderError") return true;
  if (!(error instanceof AwsError)) return false;
  const { httpStatusCode = 0 } = error.$metadata;
  return httpStatusCode >= 400 && httpStatusCode <= 499;
}
