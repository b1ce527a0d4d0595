import type { CarrierSecret } from "./credentials.ts";
import type { CarrierRecord } from "./record.ts";

/**
 * Returns the address for the delivery receipts of a message, with the carrier's token and the message's reference.
 * None of its characters has to be percent-encoded, because Kannel reads a % as its own escape.
 * @returns undefined where the carrier has no address to call back
 */
export function callbackUrl(
  { name, callbackBaseUrl }: Pick<CarrierRecord, "callbackBaseUrl" | "name">,
  { callbackToken }: CarrierSecret,
  reference: string,
): string | undefined {
  if (callbackBaseUrl === undefined || callbackToken === undefined) return undefined;
  return `${callbackBaseUrl}/v1/carriers/${name}/receipts?token=${callbackToken}&reference=${reference}`;
}

/** Returns the address for a carrier's inbound messages, if it has one. */
export function inboundUrl(
  { name, callbackBaseUrl }: Pick<CarrierRecord, "callbackBaseUrl" | "name">,
  { callbackToken }: CarrierSecret,
): string | undefined {
  if (callbackBaseUrl === undefined || callbackToken === undefined) return undefined;
  return `${callbackBaseUrl}/v1/carriers/${name}/inbound?token=${callbackToken}`;
}
