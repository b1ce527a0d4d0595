import { signal } from "@preact/signals";

/*
 * What the gateway does only with a password that was given lately, the console asks for when the gateway does, and then
 * sends the same request once more.
 */

/** Whether somebody is being asked for their password. */
export const isAskedForPassword = signal(false);

let asked: PromiseWithResolvers<boolean> | undefined;

/** Asks the person for their password. @returns whether they have given it, and have not gone back */
export async function askForPassword(): Promise<boolean> {
  asked ??= Promise.withResolvers();
  isAskedForPassword.value = true;
  return asked.promise;
}

/** Ends the question. */
export function endQuestion(isGiven: boolean): void {
  isAskedForPassword.value = false;
  asked?.resolve(isGiven);
  asked = undefined;
}
