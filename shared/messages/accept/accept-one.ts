import { createHash } from "node:crypto";

import { ApiError, type RateLimitStatus } from "../../api/contract/errors.ts";
import type { AcceptedMessage, SendSmsRequest } from "../../api/contract/sms.ts";
import { sendRateStatus } from "../../money/wallet/spending-limits.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { testMarkOf } from "../../platform/ids.ts";
import type { Write } from "../../platform/table/write.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { ledgerFieldsOf } from "../message/ledger-fields.ts";
import { codePlaceholder, toApiPricing, type CodeSource, type MessageRecord } from "../message/record.ts";
import { recordTestMessages } from "../message/test-messages.ts";
import { acceptTogether, queueForSending } from "./accept.ts";
import { holdMessage } from "./hold.ts";
import { withinKeyBudget } from "./key-limits.ts";
import { Preparation } from "./prepare.ts";
import { withinRecipientLimit } from "./recipient-limits.ts";

/** Facts about a request to send, besides its body. */
export interface AcceptOptions {
  readonly actor?: Actor;
  readonly attempt?: Attempt | undefined;
  readonly reportRateLimit?: ((status: RateLimitStatus) => void) | undefined;
  /** The verification that the message belongs to. */
  readonly verification?: OfVerification;
}

/** A verification, for one of its messages, whose text has the placeholder of the code. */
interface OfVerification {
  readonly id: string;
  readonly code: CodeSource;
  /** The text that the message shows: with the placeholder, except in a test, which learns the code from it. */
  readonly shownText: string;
  /** Whether its fee is debited with the message. */
  readonly isFirst: boolean;
  /** Returns the writes in the transaction of the message, with the response to the attempt. */
  readonly recording: (message: MessageRecord, feeMicros: number) => readonly Write[];
}

/**
 * Accepts a message: debits its price from the wallet, records it together with the ledger entry, and queues it for sending.
 * A recorded message is safe: the reconciler repairs whatever fails after that. A test message is free, and needs no
 * approval.
 * @throws ApiError, in this order: INSUFFICIENT_SCOPE, the errors of `Preparation.prepare`, RECIPIENT_RATE_EXCEEDED,
 *   KEY_BUDGET_REACHED, DestinationLimitReached, ORGANIZATION_SUSPENDED, WALLET_MISSING, INSUFFICIENT_BALANCE,
 *   DAILY_SPEND_CAP_REACHED, SEND_RATE_EXCEEDED. For a test message TEST_LIMIT_REACHED follows the checks. It is UNAVAILABLE
 *   when the message was not accepted although the wallet may have been debited
 */
export async function acceptMessage(
  organization: OrganizationRecord,
  request: SendSmsRequest,
  { actor, attempt, reportRateLimit, verification }: AcceptOptions = {},
): Promise<AcceptedMessage> {
  const preparation = new Preparation(organization, actor, request);
  const { isTest, limits, apiKeyId } = preparation;
  const prepared = await preparation.prepare(
    verification === undefined ? request : withStandIn(request, verification),
  );
  const feeMicros = verification?.isFirst === true ? await preparation.verificationFeeMicros(prepared.to) : 0;
  const message = verification === undefined ? prepared : withCode(prepared, verification, feeMicros);
  const recording = (accepted: MessageRecord): readonly Write[] =>
    verification?.recording(accepted, feeMicros) ??
    (attempt === undefined ? [] : [attempt.complete(presentAccepted(accepted))]);
  if (isTest) {
    await recordTestMessages([message], recording(message));
    await queueForSending([message]);
    return presentAccepted(message);
  }
  if (limits !== undefined && preparation.isHeld(message, feeMicros)) {
    if (verification !== undefined) {
      const tooExpensive =
        "The message costs more than this API key may spend without the approval of a person.";
      throw new ApiError("INSUFFICIENT_SCOPE", { message: tooExpensive });
    }
    const { expiresInSeconds } = request;
    const { budgetKeyId } = limits;
    return holdMessage({ ...message, apiKeyId: apiKeyId ?? "", budgetKeyId, expiresInSeconds }, attempt);
  }
  const { country } = ledgerFieldsOf(message);
  const fee = { amountMicros: feeMicros, isFee: true, country, verificationId: verification?.id } as const;
  const name = attempt && nameOf(attempt);
  const accept = async (): Promise<readonly MessageRecord[]> =>
    acceptTogether(
      [message],
      (each, wallet) => {
        const rate = sendRateStatus(wallet);
        if (rate !== undefined) reportRateLimit?.(rate);
        return each.flatMap(recording);
      },
      { fees: feeMicros > 0 ? [fee] : [], name },
    );
  const amountMicros = message.totalMicros + feeMicros;
  const placed = await withinRecipientLimit(
    message,
    async () => (limits === undefined ? accept() : withinKeyBudget(limits, amountMicros, accept, name)),
    name,
  );
  return presentAccepted(placed[0] ?? message);
}

/** Returns the name of a message for limits, by its request. */
function nameOf({ request }: Attempt): string {
  return createHash("sha256").update(`${request.key} ${request.hash}`).digest("base64url");
}

/** Returns a request with digits in place of the code: unlike the placeholder, each code is in the alphabet of GSM-7. */
function withStandIn(request: SendSmsRequest, { code }: OfVerification): SendSmsRequest {
  return { ...request, message: request.message.replaceAll(codePlaceholder, "0".repeat(code.length)) };
}

function withCode(
  prepared: MessageRecord,
  { id, code, shownText }: OfVerification,
  feeMicros: number,
): MessageRecord {
  const fee = feeMicros > 0 ? ({ feeMicros, fee: "open" } as const) : {};
  return { ...prepared, message: shownText, verificationId: id, code, ...fee };
}

function presentAccepted(message: MessageRecord): AcceptedMessage {
  return {
    id: message.id,
    status: "queued",
    to: message.to,
    queuedAt: message.queuedAt,
    scheduledAt: message.scheduledAt,
    expiresAt: message.validUntil,
    ...testMarkOf(message.id),
    pricing: toApiPricing(message),
  };
}
