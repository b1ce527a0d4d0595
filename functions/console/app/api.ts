// oxlint-disable-next-line import/no-unassigned-import
import "./without-eval.ts";
import { createClient, RequestError, type Client } from "../../../shared/api/client/client.ts";
import { requestPassword } from "./password-request.ts";
import { leaveFor } from "./router.ts";
import {
  clearSession,
  isLeaving,
  noteSecondsLeft,
  renewSession,
  session,
  setLeaving,
  startSession,
} from "./session.ts";

/** The address of the gateway. The console's page is one level below it, even if the gateway has a path prefix. */
export const baseUrl = new URL(".", location.href).href.replace(/\/$/, "");

/** Long enough for the largest import on a slow connection. */
const timeoutMs = 60_000;

const client = createClient({ baseUrl, fetch: sendRequest });

/** The typed client of the API. The browser adds the cookie of the session. */
export function api(): Client {
  return client;
}

/** Finds the session that another tab began, or completes its log-out. */
export async function resumeSession(): Promise<void> {
  if (session.peek() !== undefined) return;
  if (isLeaving()) return endAtGateway();
  const account = await client.getMe().catch(() => undefined);
  if (account !== undefined) startSession(account);
}

/** Ends the session here, and at the gateway if it can be reached. */
export async function logout(): Promise<void> {
  setLeaving(true);
  // The person can leave even if the session has ended or the gateway does not respond.
  await Promise.race([
    endAtGateway(),
    new Promise((resolve) => {
      setTimeout(resolve, 3_000);
    }),
  ]);
  clearSession();
}

async function endAtGateway(): Promise<void> {
  try {
    await client.logout();
  } catch (error) {
    // The session may have ended already.
    if (!(error instanceof RequestError) || error.status !== 401) return;
  }
  setLeaving(false);
}

/** Reads the PDF of an invoice or credit note, or its file of EN 16931. */
export async function readInvoiceFile(number: string, type: "pdf" | "xml"): Promise<Blob> {
  const headers = { Accept: `application/${type}` };
  const response = await sendRequest(`${baseUrl}/v1/invoices/${number}`, { headers });
  if (!response.ok) throw new RequestError(response, await response.text());
  return response.blob();
}

/** A request that received no response. */
class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/**
 * Sends a request. If the session has ended, the request had no effect: it waits until the person has logged in again and
 * is then sent once more. The same applies to a request that requires a recent password.
 */
async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  const response = await sendOnce(url, init);
  if (await isRejectedWith("UNAUTHORIZED", 401, response)) {
    await renewSession();
    return sendRequest(url, init);
  }
  if (await isRejectedWith("REAUTHENTICATION_REQUIRED", 403, response)) {
    return (await requestPassword()) ? sendRequest(url, init) : response;
  }
  if (await isRejectedWith("SECOND_FACTOR_NOT_SET_UP", 403, response)) leaveFor("security");
  return response;
}

async function sendOnce(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  // The gateway accepts the cookie with this header only, and if it belongs to the user that this tab shows.
  headers.set("X-Console", session.peek()?.user.id ?? "new");
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { ...init, headers, cache: "no-store", signal });
    const secondsLeft = response.headers.get("X-Session-Ends-In");
    if (secondsLeft !== null) noteSecondsLeft(Number(secondsLeft));
    return response;
  } catch (error) {
    throw new Unreachable("The gateway could not be reached. Check your connection, then try again.", {
      cause: error,
    });
  }
}

/**
 * Whether the gateway rejected a request with this code. Other codes share the status, for example a wrong password.
 */
async function isRejectedWith(code: string, status: number, response: Response): Promise<boolean> {
  if (response.status !== status || session.peek() === undefined) return false;
  return new RequestError(response, await response.clone().text()).code === code;
}
