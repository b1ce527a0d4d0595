import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { Scope } from "../../../shared/api/contract/scopes.ts";
import { api } from "./api.ts";
import { session } from "./session.ts";

/*
 * The rights of the person's role. The gateway checks each request, and the console only hides those that it would reject.
 */

/** The views whose actions need a scope, by the first part of their address. */
const viewsOf: Readonly<Partial<Record<Scope, readonly string[]>>> = {
  send: ["send", "messages", "held-messages", "conversations", "sender-ids", "verifications"],
  contacts: ["contacts", "opt-outs"],
  campaigns: ["templates", "campaigns"],
  keys: ["api-keys", "hooks"],
  webhooks: ["webhooks", "verification-profiles"],
  billing: ["wallet", "payments", "kyc"],
};

/** The views of personal data. */
const personalViews = /^(audit-log|kyc)(\/|$)/;

/** The views that show nothing to people who may not use their actions. */
const onlyActions = /^(send|api-keys|hooks|payments)(\/|$)|\/(new|import|edit)$/;

const scopes = signal<readonly Scope[] | undefined>(undefined);
let userRead: string | undefined;

/** Reads the rights once for each user. If that fails, everything is offered. */
export async function readRights(): Promise<void> {
  const userId = session.peek()?.user.id;
  if (userId === undefined || userId === userRead) return;
  const me = await api()
    .getMe()
    .catch(() => undefined);
  scopes.value = me?.scopes;
  if (me !== undefined) userRead = userId;
}

/** Whether the person has a scope, and without one true. */
export function may(scope: Scope | undefined): boolean {
  return scope === undefined || scopes.value?.includes(scope) !== false;
}

/** Returns the scope that the actions of a view need. @param address such as `contacts/import` */
export function scopeOfActions(address: string): Scope | undefined {
  return Scope.options.find((scope) => viewsOf[scope]?.includes(address.split("/")[0] ?? ""));
}

/** Whether there is something for the person in a view. @param address a link to it, or its path */
export function mayOpen(address: string): boolean {
  const path = address.replace(/^#\//, "").replace(/\?.*/, "");
  if (personalViews.test(path) && !may("personal")) return false;
  return !onlyActions.test(path) || may(scopeOfActions(path));
}

/** The scope of the buttons, menus and forms in a part of a page. */
export const ActionScope = createContext<Scope | undefined>(undefined);

/** Whether the person may use the buttons, menus and forms in this part of the page. */
export function useMayAct(): boolean {
  return may(useContext(ActionScope));
}
