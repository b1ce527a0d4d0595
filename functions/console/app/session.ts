import { effect, signal } from "@preact/signals";
import * as z from "zod/mini";

import { Account } from "../../../shared/api/contract/accounts.ts";

/*
 * The session of this browser. It is in a cookie that no script can read. All tabs share it, and notify each other when it
 * begins, continues or ends. The storage of a tab has only the names that it shows, so that they are there after a reload.
 */

const storageKey = "session";
/** Set in localStorage while a log-out has not reached the gateway yet. */
const leavingKey = "leaving";
const warningMs = 2 * 60_000;

/** The user and organization of this tab; undefined when no one is logged in. */
export const session = signal<Account | undefined>(restore());

/** When the session ends without further requests, by the clock of this device; undefined before the first response. */
const endsAtMs = signal<number | undefined>(undefined);

/** `ending` starts two minutes before the end; `over` when the session has expired, or the gateway rejects it. */
export const sessionState = signal<"active" | "ending" | "over">("active");

let renewal: PromiseWithResolvers<void> | undefined;

/** The news for other tabs: the user whose session continues until then. Without a user the session has ended. */
const News = z.object({ userId: z.optional(z.string()), endsAtMs: z.optional(z.number()) });

const tabs = new BroadcastChannel("console-session");
tabs.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  const news = News.parse(data);
  if (news.userId === undefined || news.userId !== session.peek()?.user.id) return leave();
  continueUntil(news.endsAtMs);
});

/** Starts a session, or continues it after a new login. */
export function startSession({ user, organization }: Account): void {
  session.value = { user, organization };
  sessionStorage.setItem(storageKey, JSON.stringify(session.value));
  localStorage.removeItem(leavingKey);
  continueUntil(endsAtMs.peek());
  notifyTabs();
}

/** Notes how long the session lasts, from a response. */
export function noteSecondsLeft(seconds: number): void {
  continueUntil(Date.now() + seconds * 1_000);
  notifyTabs();
}

function continueUntil(newEndMs: number | undefined): void {
  endsAtMs.value = newEndMs;
  sessionState.value = newEndMs !== undefined && newEndMs - Date.now() <= warningMs ? "ending" : "active";
  renewal?.resolve();
  renewal = undefined;
}

function notifyTabs(): void {
  const userId = session.peek()?.user.id;
  if (userId !== undefined) tabs.postMessage({ userId, endsAtMs: endsAtMs.peek() });
}

/** Requests a new login, and returns after it. */
export async function renewSession(): Promise<void> {
  sessionState.value = "over";
  renewal ??= Promise.withResolvers();
  return renewal.promise;
}

/** Ends the session in all tabs. */
export function clearSession(): void {
  tabs.postMessage({});
  leave();
}

/** Reloads the page to clear its memory, and to find the session of another tab. */
function leave(): void {
  if (session.peek() !== undefined) {
    sessionStorage.clear();
    location.hash = "";
  }
  location.reload();
}

/** Whether a log-out has not reached the gateway yet. Scripts cannot delete the cookie. */
export function isLeaving(): boolean {
  return localStorage.getItem(leavingKey) !== null;
}

export function setLeaving(isNew: boolean): void {
  if (isNew) localStorage.setItem(leavingKey, "yes");
  else localStorage.removeItem(leavingKey);
}

// Checked every second, because a sleeping device misses its timers.
effect(() => {
  const { value: endMs } = endsAtMs;
  if (endMs === undefined) return undefined;
  const check = (): void => {
    const leftMs = endMs - Date.now();
    if (leftMs <= 0) sessionState.value = "over";
    else if (leftMs <= warningMs && sessionState.peek() === "active") sessionState.value = "ending";
  };
  check();
  const timer = setInterval(check, 1_000);
  return () => clearInterval(timer);
});

function restore(): Account | undefined {
  try {
    return Account.parse(JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
  } catch {
    return undefined;
  }
}
