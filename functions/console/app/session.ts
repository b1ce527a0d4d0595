import { effect, signal } from "@preact/signals";
import * as z from "zod/mini";

import { Session } from "../../../shared/api/contract/accounts.ts";

/*
 * The session of this tab. Its token is in memory and in sessionStorage, so that it survives a reload. Unlike localStorage
 * and cookies, sessionStorage belongs to the tab and ends with it. The content security policy allows only the console's
 * scripts.
 */

const StoredSession = z.object({ ...Session.shape, endsAtMs: z.number() });

/** A session with its end by the clock of this device, which may be wrong. */
type StoredSession = z.infer<typeof StoredSession>;

const storageKey = "session";
const warningMs = 2 * 60_000;

/** The current session; undefined when no one is logged in. */
export const session = signal<StoredSession | undefined>(restore());

/** `ending` starts two minutes before the end; `over` when a token is rejected or has expired. */
export const sessionState = signal<"active" | "ending" | "over">("active");

let renewal: PromiseWithResolvers<string> | undefined;

/** Starts a session, or continues it with a new token. */
export function startSession(started: Session): void {
  const endsAtMs = Date.now() + lifetimeMs(started);
  session.value = { ...started, endsAtMs };
  sessionState.value = "active";
  sessionStorage.setItem(storageKey, JSON.stringify(session.value));
  renewal?.resolve(started.token);
  renewal = undefined;
}

/** Requests a new login. @returns the new token */
export async function renewSession(): Promise<string> {
  sessionState.value = "over";
  renewal ??= Promise.withResolvers();
  return renewal.promise;
}

/** Ends the session in this tab and reloads the page to clear its memory. */
export function clearSession(): void {
  sessionStorage.clear();
  location.hash = "";
  location.reload();
}

// Checked every second, because a sleeping device misses its timers.
effect(() => {
  const endsAtMs = session.value?.endsAtMs;
  if (endsAtMs === undefined) return undefined;
  const check = (): void => {
    const leftMs = endsAtMs - Date.now();
    if (leftMs <= 0) sessionState.value = "over";
    else if (leftMs <= warningMs && sessionState.peek() === "active") sessionState.value = "ending";
  };
  check();
  const timer = setInterval(check, 1_000);
  return () => clearInterval(timer);
});

const TokenTimes = z.object({ iat: z.number(), exp: z.number() });

/** The lifetime of a token by its own claims, independent of this device's clock. */
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
