import { signal } from "@preact/signals";

/*
 * What the gateway does only with a password that was given lately, the console asks for when the gateway does, and then
 * sends the same request once more.
 */

/** Whether somebody is being asked for their password. */
export const isPasswordRequested = signal(false);

let pendingRequest: PromiseWithResolvers<boolean> | undefined;

/** Asks the person for their password. @returns whether they have given it, and have not gone back */
export async function requestPassword(): Promise<boolean> {
  pendingRequest ??= Promise.withResolvers();
  isPasswordRequested.value = true;
  return pendingRequest.promise;
}

/** Ends the question. */
export function settlePasswordRequest(isGiven: boolean): void {
  isPasswordRequested.value = false;
  pendingRequest?.resolve(isGiven);
  pendingRequest = undefined;
}
