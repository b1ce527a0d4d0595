import type { RateLimitStatus } from "../../api/contract/errors.ts";
import type { AcceptedMessage, SendSmsRequest } from "../../api/contract/sms.ts";
import { readPrices } from "../../money/prices/prices.ts";
import { microsOf } from "../../money/wallet/money.ts";
import { sendRateStatus } from "../../money/wallet/spending-limits.ts";
import { limitsOf, type Actor } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { testMarkOf } from "../../platform/ids.ts";
import { findOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { toApiPricing, type MessageRecord } from "../message/record.ts";
import { parseSchedule } from "../message/schedule.ts";
import { asTestMessage, isTestRequest, recordTestMessage, testPrices } from "../message/test-messages.ts";
import { senderOf } from "../sender-ids/usable.ts";
import { acceptTogether, newMessage, queueForSending } from "./accept.ts";
import { holdMessage } from "./hold.ts";
import { checkKeyLimits, withinKeyBudget } from "./key-limits.ts";
import { checkMessage, checkTestMessage } from "./policies.ts";
import { withinRecipientLimit } from "./recipient-limits.ts";

/** Facts about a request to send, besides its body. */
export interface AcceptOptions {
  readonly actor?: Actor;
  readonly attempt?: Attempt | undefined;
  readonly reportRateLimit?: ((status: RateLimitStatus) => void) | undefined;
}

/**
 * Accepts a message: debits its price from the wallet, records it together with the ledger entry, and queues it for sending.
 * A recorded message is safe: the reconciler repairs whatever fails after that. A test message is free, and needs no
 * approval.
 * @throws ApiError, in this order: VALIDATION_ERROR, INSUFFICIENT_SCOPE, the errors of `senderOf`, `checkKeyLimits` and
 *   `checkMessage`, DESTINATION_NOT_PRICED, RECIPIENT_RATE_EXCEEDED, KEY_BUDGET_REACHED, DestinationLimitReached,
 *   ORGANIZATION_SUSPENDED, WALLET_MISSING, INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED, SEND_RATE_EXCEEDED. For a test
 *   message TEST_LIMIT_REACHED follows the checks. It is UNAVAILABLE when the message was not accepted although the wallet may have been debited
 */
export async function acceptMessage(
  organization: OrganizationRecord,
  request: SendSmsRequest,
  { actor, attempt, reportRateLimit }: AcceptOptions = {},
): Promise<AcceptedMessage> {
  const queuedAt = now();
  const scheduledAt = parseSchedule(request.scheduledAt, queuedAt);
  const { id: organizationId } = organization;
  const isTest = isTestRequest(actor, request);
  const isNamed = request.senderId !== undefined || request.from !== undefined;
  // The given record may not have a new default yet.
  const current = isNamed ? organization : await findOrganization(organizationId, { consistent: true });
  const sender = senderOf(current, request, isTest);
  const { to, messageType } = request;
  const limits = limitsOf(actor);
  if (limits !== undefined) checkKeyLimits(limits, to, new Date(scheduledAt ?? queuedAt));
  await (isTest ? checkTestMessage : checkMessage)(organization, {
    organizationId,
    to,
    ...sender,
    messageType,
  });
  const prices = await readPrices(organization, queuedAt);
  const credential = actor?.credential;
  const apiKeyId = credential?.type === "apiKey" ? credential.keyId : undefined;
  const content = { ...request, ...sender, scheduledAt, apiKeyId };
  const message = newMessage(organizationId, content, {
    queuedAt,
    prices: isTest ? testPrices(prices) : prices,
  });
  if (isTest) {
    const test = asTestMessage(message);
    const accepted = presentAccepted(test);
    await recordTestMessage(test, attempt === undefined ? [] : [attempt.complete(accepted)]);
    await queueForSending([test]);
    return accepted;
  }
  if (limits?.holdAbove !== undefined && message.totalMicros > microsOf(limits.holdAbove)) {
    const { expiresInSeconds } = request;
    const { budgetKeyId } = limits;
    return holdMessage({ ...message, apiKeyId: apiKeyId ?? "", budgetKeyId, expiresInSeconds }, attempt);
  }
  const accept = async (): Promise<readonly MessageRecord[]> =>
    acceptTogether([message], (each, wallet) => {
      const rate = sendRateStatus(wallet);
      if (rate !== undefined) reportRateLimit?.(rate);
      return attempt === undefined ? [] : each.map((accepted) => attempt.complete(presentAccepted(accepted)));
    });
  const placed = await withinRecipientLimit(message, async () =>
    limits === undefined ? accept() : withinKeyBudget(limits, message.totalMicros, accept),
  );
  return presentAccepted(placed[0] ?? message);
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
