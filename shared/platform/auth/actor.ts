import { ApiError } from "../../api/contract/errors.ts";
import type { SendLimits } from "../../api/contract/key-limits.ts";
import type { Scope } from "../../api/contract/scopes.ts";
import { isTestId } from "../ids.ts";

/** The caller of a request. */
export interface Actor {
  readonly organizationId: string;
  /** The user who logged in, or who is ultimately responsible for the API key. */
  readonly userId: string;
  readonly credential:
    | {
        readonly type: "session";
        readonly sessionId: string;
        /** When the user last gave their password, and a code if they have a second factor, in ISO 8601. */
        readonly provenAt?: string;
      }
    | {
        readonly type: "apiKey";
        readonly keyId: string;
        readonly test?: true;
        readonly limits?: KeyLimits;
      };
  readonly scopes: readonly Scope[];
}

/** The viewer of data: an organization, or with a test key only its test data. Reads for a handler require one. */
export interface Viewer {
  readonly organizationId: string;
  readonly isTest: boolean;
  /** Whether the texts of one-time codes are hidden from it. */
  readonly hidesCodes: boolean;
}

export function viewerOf({ organizationId, credential, scopes }: Actor): Viewer {
  const isTest = credential.type === "apiKey" && credential.test === true;
  return { organizationId, isTest, hidesCodes: !isTest && !scopes.includes("personal") };
}

/** Whether a viewer sees a message, or an inbound message, of its organization. */
export function isVisible({ isTest }: Viewer, id: string): boolean {
  return !isTest || isTestId(id);
}

/** @throws ApiError INSUFFICIENT_SCOPE */
export function requireScope({ scopes }: Actor, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new ApiError("INSUFFICIENT_SCOPE", {
    requiredScope: scope,
    message: `This request needs the scope \`${scope}\`, which this credential does not have.`,
  });
}

/** Rejects an API key. @throws ApiError INSUFFICIENT_SCOPE */
export function requireSession({ credential }: Actor): void {
  if (credential.type === "session") return;
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only a person who is logged in may do this." });
}

/** The limits of an API key. */
export interface KeyLimits extends SendLimits {
  /** The key whose budget it uses: the first one that has these limits. */
  readonly budgetKeyId: string;
}

/** Returns the limits of a caller; undefined for a person, and for a key without limits. */
export function limitsOf(actor: Actor | undefined): KeyLimits | undefined {
  return actor?.credential.type === "apiKey" ? actor.credential.limits : undefined;
}
