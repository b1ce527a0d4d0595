import { now } from "../clock.ts";

/** Whether a key has expired. */
export function hasExpired({ validUntil }: { readonly validUntil?: string | undefined }): boolean {
  return validUntil !== undefined && Date.parse(validUntil) <= now().getTime();
}
