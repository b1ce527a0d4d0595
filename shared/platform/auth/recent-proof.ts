import { ApiError } from "../../api/contract/errors.ts";
import type { Scope } from "../../api/contract/scopes.ts";
import { minuteMs, now } from "../clock.ts";
import { config } from "../config.ts";
import { requireScope, type Actor } from "./actor.ts";

/*
 * A thief of a session has the rights of its user until it ends: within an hour with a token, within twelve with a cookie.
 * Members, API keys and webhooks would let a thief stay longer, and saved cards are money. Changes of these require a proof
 * that the session does not contain. `recentProof` marks their routes.
 */

/** How long a password counts as recently given. */
export const recentMs = 10 * minuteMs;

/** Scopes that let a key outlive its maker, or spend money. */
const sensitiveScopes: ReadonlySet<Scope> = new Set(["billing", "charge", "keys"]);

/** Reports whether an API key of these scopes may make keys or move money. A key without a list has the default scopes. */
export function isSensitive(scopes: readonly Scope[] | undefined): boolean {
  return scopes === undefined || scopes.some((scope) => sensitiveScopes.has(scope));
}

/**
 * Rejects a caller who may not charge a saved card.
 * @throws ApiError INSUFFICIENT_SCOPE. REAUTHENTICATION_REQUIRED for a session without a recent password, where the stage requires one
 */
export function requireCharge(actor: Actor): void {
  requireScope(actor, "charge");
  if (actor.credential.type === "session") requireRecentProof(actor);
}

/**
 * Rejects a credential without a recent password of its user, where the stage requires one.
 * @throws ApiError REAUTHENTICATION_REQUIRED, also for an API key, because a key cannot give a password
 */
export function requireRecentProof({ credential }: Actor): void {
  if (!config.reauthenticationBeforeChanges()) return;
  if (credential.type === "apiKey") {
    throw new ApiError("REAUTHENTICATION_REQUIRED", {
      message: "Only a person who is logged in and gave their password again may do this.",
    });
  }
  const { provenAt } = credential;
  if (provenAt !== undefined && now().getTime() - Date.parse(provenAt) < recentMs) return;
  throw new ApiError("REAUTHENTICATION_REQUIRED");
}
