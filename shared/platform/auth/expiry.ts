import { now } from "../clock.ts";

/** Whether the time of a key is over. */
export function hasExpired({ validUntil }: { readonly validUntil?: string | undefined }): boolean {
  return validUntil !== undefined && Date.parse(validUntil) <= now().getTime();
}
