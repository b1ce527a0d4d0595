import { effect, signal } from "@preact/signals";
import * as z from "zod/mini";

import { Session } from "../../../shared/contract/accounts.ts";

/*
 * The session of this tab. Its token is in memory and in the sessionStorage, so that it outlives a reload and nothing
 * else: that storage is the tab's own, unlike localStorage and cookies, which scripts of all tabs of the origin read and
 * which stay behind when the tab is closed. The page's security policy lets no script run that is not the console's.
 */

const StoredSession = z.object({ ...Session.shape, endsAtMs: z.number() });

/** A session, and when it ends by the clock of this device, which may be wrong. */
type StoredSession = z.infer<typeof StoredSession>;

const storageKey = "session";
const warningMs = 2 * 60_000;

/** Who is logged in; undefined is nobody. */
export const session = signal<StoredSession | undefined>(restore());

/** How the session stands: `ending` two minutes before its end, `over` once a token is refused or its time is up. */
export const sessionState = signal<"active" | "ending" | "over">("active");

let renewal: PromiseWithResolvers<string> | undefined;

/** Begins a session, or goes on with it under a new token. */
export function startSession(started: Session): void {
  const endsAtMs = Date.now() + lifetimeMs(started);
  session.value = { ...started, endsAtMs };
  sessionState.value = "active";
  sessionStorage.setItem(storageKey, JSON.stringify(session.value));
  renewal?.resolve(started.token);
  renewal = undefined;
}

/** Asks the person to log in again. @returns the new token, once they have */
export async function renewSession(): Promise<string> {
  sessionState.value = "over";
  renewal ??= Promise.withResolvers();
  return renewal.promise;
}

/** Forgets the session, and with a reload all else that this page has in memory. */
export function clearSession(): void {
  sessionStorage.clear();
  location.hash = "";
  location.reload();
}

// The time is looked at again and again, for a device that slept has missed its timers.
effect(() => {
  const endsAtMs = session.value?.endsAtMs;
  if (endsAtMs === undefined) return undefined;
  const look = (): void => {
    const leftMs = endsAtMs - Date.now();
    if (leftMs <= 0) sessionState.value = "over";
    else if (leftMs <= warningMs && sessionState.peek() === "active") sessionState.value = "ending";
  };
  look();
  const timer = setInterval(look, 1_000);
  return () => clearInterval(timer);
});

const TokenTimes = z.object({ iat: z.number(), exp: z.number() });

/** How long a token is good for, as it says itself: no clock of this device has a say in that. */
function lifetimeMs({ token }: Session): number {
  const [, payload = ""] = token.split(".");
  const { iat, exp } = TokenTimes.parse(JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))));
  return (exp - iat) * 1_000;
}

function restore(): StoredSession | undefined {
  try {
    return StoredSession.parse(JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
  } catch {
    return undefined;
  }
}
