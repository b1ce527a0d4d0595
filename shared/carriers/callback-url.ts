import type { CarrierSecret } from "./credentials.ts";
import type { CarrierRecord } from "./record.ts";

/**
 * Where a carrier tells what became of a message: an address with the carrier's token and our reference in it. None of its
 * characters has to be percent-encoded, for Kannel takes a % for an escape of its own.
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

/** Where a carrier hands on what people reply. */
export function repliesUrl(
  { name, callbackBaseUrl }: Pick<CarrierRecord, "callbackBaseUrl" | "name">,
  { callbackToken }: CarrierSecret,
): string | undefined {
  if (callbackBaseUrl === undefined || callbackToken === undefined) return undefined;
  return `${callbackBaseUrl}/v1/carriers/${name}/replies?token=${callbackToken}`;
}
