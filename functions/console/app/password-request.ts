import { signal } from "@preact/signals";

/*
 * Some requests require a recently confirmed password. The console then requests the password and sends the request
 * again.
 */

export const isPasswordRequested = signal(false);

let pendingRequest: PromiseWithResolvers<boolean> | undefined;

/** Requests the person's password. @returns whether it was confirmed, not cancelled */
export async function requestPassword(): Promise<boolean> {
  pendingRequest ??= Promise.withResolvers();
  isPasswordRequested.value = true;
  return pendingRequest.promise;
}

/** Closes the request for the password. */
export function settlePasswordRequest(isGiven: boolean): void {
  isPasswordRequested.value = false;
  pendingRequest?.resolve(isGiven);
  pendingRequest = undefined;
}
