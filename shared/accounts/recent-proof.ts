import { ApiError } from "../contract/errors.ts";
import type { Scope } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { minuteMs, now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";

/*
 * A session is a bearer token: whoever has a stolen one is its user for an hour at most. What would let them stay longer,
 * a new owner or a key that makes keys or moves money, asks for what the token does not have.
 */

/** How long a password counts as given lately. */
export const recentMs = 10 * minuteMs;

/** Scopes that let a key outlive its maker, or spend money. */
const sensitiveScopes: ReadonlySet<Scope> = new Set(["billing", "keys"]);

/** Whether an API key of these scopes may make keys or move money; without scopes it may everything. */
export function isSensitive(scopes: readonly Scope[] | undefined): boolean {
  return scopes === undefined || scopes.some((scope) => sensitiveScopes.has(scope));
}

/**
 * Refuses a credential that nobody has proven lately to be in the hands of its user, where the stage asks for that.
 * @throws ApiError REAUTHENTICATION_REQUIRED, also for an API key, which can prove nothing
 */
export function requireRecentProof({ credential }: Actor): void {
  if (!config.reauthenticationBeforeChanges()) return;
  if (credential.type === "apiKey") {
    throw new ApiError("REAUTHENTICATION_REQUIRED", {
      message: "Only a person who is logged in may do this, with their password given once more.",
    });
  }
  const { provenAt } = credential;
  if (provenAt !== undefined && now().getTime() - Date.parse(provenAt) < recentMs) return;
  throw new ApiError("REAUTHENTICATION_REQUIRED");
}
