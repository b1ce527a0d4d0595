import type { BatchEstimate, BatchResult } from "../../api/contract/batches.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { Estimate, EstimateSmsRequest } from "../../api/contract/estimates.ts";
import { checkLength } from "../../carriers/whole-messages.ts";
import { readPrices } from "../../money/prices/prices.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { readWallet } from "../../money/wallet/record.ts";
import type { Viewer } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { toApiPricing } from "../message/record.ts";
import { testPrices } from "../message/test-messages.ts";
import { rejectionOf, type BatchEntry } from "./batch-entry.ts";
import { checkDestination, checkSenderInCountry, senderRuleFor } from "./policies.ts";
import { quote } from "./quote.ts";

/**
 * Returns the cost of a message, and whether the balance covers it. Nothing is debited and nothing is stored.
 * A test message needs no balance, and its estimate does not have it.
 * @throws ApiError DESTINATION_NOT_ALLOWED, DESTINATION_NOT_PRICED, MESSAGE_TOO_LONG, WALLET_MISSING, in this order; UNAVAILABLE
 */
export async function estimateMessage(
  organization: OrganizationRecord,
  request: EstimateSmsRequest,
  { isTest }: Pick<Viewer, "isTest">,
): Promise<Estimate> {
  if (!isTest) await checkDestination({ organizationId: organization.id, to: request.to });
  const prices = await readPrices(organization, now());
  const quoted = quote(request, isTest ? testPrices(prices) : prices);
  if (!isTest) await checkLength({ ...request, ...quoted });
  const { to, from, senderId = organization.defaultSenderId } = request;
  const senderRule = senderId === undefined ? undefined : senderRuleFor({ to, from, senderId });
  const estimated = { to, encoding: quoted.encoding, pricing: toApiPricing(quoted), senderRule };
  if (isTest) return { ...estimated, balance: 0, isCovered: true };
  const { balanceMicros, closedAt } = await readWallet(organization.id);
  return {
    ...estimated,
    balance: amountOf(balanceMicros),
    isCovered: closedAt === undefined && balanceMicros >= quoted.totalMicros,
  };
}

/**
 * Returns the cost of the messages of a batch that have a price, and whether the balance covers them. Nothing is stored.
 * @throws ApiError WALLET_MISSING, UNAVAILABLE
 */
export async function estimateBatch(
  organization: OrganizationRecord,
  entries: readonly (ApiError | BatchEntry)[],
  { isTest }: Pick<Viewer, "isTest">,
): Promise<BatchEstimate> {
  const prices = await readPrices(organization, now());
  const sums = { segments: 0, totalMicros: 0 };
  const rejected: BatchResult[] = [];
  for (const [index, each] of entries.entries()) {
    try {
      if (each instanceof ApiError) throw each;
      const { message, ...entry } = each;
      if (message instanceof ApiError) throw message;
      if (!isTest) {
        await checkDestination({ organizationId: organization.id, to: entry.to });
        const { senderId = organization.defaultSenderId, ...addressed } = entry;
        if (senderId !== undefined) checkSenderInCountry({ ...addressed, senderId });
      }
      const quoted = quote({ ...entry, message }, isTest ? testPrices(prices) : prices);
      if (!isTest) await checkLength({ ...entry, ...quoted });
      sums.segments += quoted.segments;
      sums.totalMicros += quoted.totalMicros;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === "UNAVAILABLE") throw error;
      rejected.push(rejectionOf(index, error));
    }
  }
  const { segments, totalMicros } = sums;
  const { balanceMicros = 0, closedAt } = isTest ? {} : await readWallet(organization.id);
  return {
    segments,
    total: amountOf(totalMicros),
    currency: config.currency(),
    balance: amountOf(balanceMicros),
    isCovered: isTest || (closedAt === undefined && balanceMicros >= totalMicros),
    rejected,
  };
}
