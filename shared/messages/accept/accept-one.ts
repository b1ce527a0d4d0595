import { createHash } from "node:crypto";

import type { RateLimitStatus } from "../../api/contract/errors.ts";
import type { AcceptedMessage, SendSmsRequest } from "../../api/contract/sms.ts";
import { sumOf, type Charge } from "../../money/wallet/debit.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { testMarkOf } from "../../platform/ids.ts";
import type { Write } from "../../platform/table/write.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { toApiPricing, type MessageRecord } from "../message/record.ts";
import { recordTestMessages } from "../message/test-messages.ts";
import { commit, queueForSending } from "./commit.ts";
import { reserveDestinations } from "./destination-limits.ts";
import { holdMessage } from "./hold.ts";
import { reserveBudget } from "./key-limits.ts";
import { Preparation } from "./prepare.ts";
import { reserveRecipient } from "./recipient-limits.ts";
import { endBy, reserveAll } from "./reservations.ts";

/** Facts about a request to send, besides its body. */
export interface AcceptOptions {
  readonly actor?: Actor;
  readonly attempt?: Attempt | undefined;
  readonly reportRateLimit?: ((status: RateLimitStatus | undefined) => void) | undefined;
}

/**
 * Accepts a message: debits its price from the wallet, records it, and queues it for sending.
 * A recorded message is safe: the reconciler repairs whatever fails after that. A test message is free, and needs no
 * approval.
 * @throws ApiError, in this order: INSUFFICIENT_SCOPE, the errors of `Preparation.prepare` and of `acceptPrepared`
 */
export async function acceptMessage(
  organization: OrganizationRecord,
  request: SendSmsRequest,
  options: AcceptOptions = {},
): Promise<AcceptedMessage> {
  const { actor, attempt } = options;
  const preparation = new Preparation(organization, actor, request);
  const message = await preparation.prepare(request);
  const { limits, apiKeyId = "" } = preparation;
  if (limits !== undefined && preparation.isHeld(message)) {
    const { expiresInSeconds } = request;
    return holdMessage({ ...message, apiKeyId, budgetKeyId: limits.budgetKeyId, expiresInSeconds }, attempt);
  }
  const accepted = presentAccepted(message);
  const writes = attempt === undefined ? [] : [attempt.complete(accepted)];
  await acceptPrepared(preparation, { message, writes }, options);
  return accepted;
}

/** One message that was checked and priced, with its other prices and the writes of the caller. */
interface Prepared {
  readonly message: MessageRecord;
  readonly fees?: readonly Charge[];
  readonly writes: readonly Write[];
}

/**
 * Accepts a prepared message within the limits of its number, its key and its destination, all or nothing.
 * @throws ApiError, in this order: RECIPIENT_RATE_EXCEEDED, KEY_BUDGET_REACHED, DestinationLimitReached, and the errors of
 *   `commit`. For a test message TEST_LIMIT_REACHED, or UNAVAILABLE
 */
export async function acceptPrepared(
  { isTest, limits }: Preparation,
  { message, fees = [], writes }: Prepared,
  { attempt, reportRateLimit }: AcceptOptions,
): Promise<void> {
  if (isTest) {
    await recordTestMessages([message], writes);
    await queueForSending([message]);
    return;
  }
  const name = attempt && nameOf(attempt);
  // A message over the limit of its number takes no part of a budget, not even for a moment: others would be rejected.
  const ofNumber = await reserveRecipient(message, name);
  const budgets = [
    reserveBudget(limits, message.totalMicros + sumOf(fees), name),
    reserveDestinations([message], name),
  ];
  const reservations = await reserveAll(budgets, ofNumber);
  const committing = commit({ messages: [message], fees, isRateLimited: true, writes });
  const rate = await endBy(reservations, committing);
  reportRateLimit?.(rate);
}

/** Returns the name of a message for limits, by its request. */
function nameOf({ request }: Attempt): string {
  return createHash("sha256").update(`${request.key} ${request.hash}`).digest("base64url");
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
