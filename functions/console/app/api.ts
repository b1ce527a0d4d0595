// oxlint-disable-next-line import/no-unassigned-import
import "./without-eval.ts";
import { computed } from "@preact/signals";

import { createClient, RequestError, type Client } from "../../../shared/client.ts";
import { requestPassword } from "./reauthentication.ts";
import { clearSession, renewSession, session } from "./session.ts";

/** The address of the gateway, of which the page is one step below, also behind a path prefix. */
export const baseUrl = new URL(".", location.href).href.replace(/\/$/, "");

/** Long enough for the largest import on a slow line; an end, so that no button waits for ever. */
const timeoutMs = 60_000;

const client = computed(() => {
  const { token } = session.value ?? {};
  return createClient({
    baseUrl,
    ...(token === undefined ? {} : { credential: token }),
    fetch: sendRequest,
  });
});

/** The typed client of the API, with the token of the session. */
export function api(): Client {
  return client.peek();
}

/** Ends the session at the gateway where it can be reached, and here in any case. */
export async function logout(): Promise<void> {
  // A session that is over, or a gateway that is not there, keeps nobody from leaving.
  await Promise.race([
    api()
      .logout()
      .catch(() => undefined),
    new Promise((resolve) => {
      setTimeout(resolve, 3_000);
    }),
  ]);
  clearSession();
}

/** A request that got no answer at all. */
class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/**
 * Sends a request. One whose session is over has done nothing: it waits until the person has logged in again, and is then
 * sent once more, so that no input is lost. The same holds for one that needs a recent password.
 */
async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  const response = await sendOnce(url, init);
  if (await isRejectedWith("UNAUTHORIZED", 401, response)) {
    const token = await renewSession();
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return sendOnce(url, { ...init, headers });
  }
  if (await isRejectedWith("REAUTHENTICATION_REQUIRED", 403, response)) {
    return (await requestPassword()) ? sendRequest(url, init) : response;
  }
  return response;
}

async function sendOnce(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, cache: "no-store", signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new Unreachable("The gateway could not be reached. Check your connection, then try again.", {
      cause: error,
    });
  }
}

/** Whether an answer refuses what a person who is logged in wants; a wrong password, for example, is a 401 too. */
async function isRejectedWith(code: string, status: number, response: Response): Promise<boolean> {
  if (response.status !== status || session.peek() === undefined) return false;
  return new RequestError(response, await response.clone().text()).code === code;
}
