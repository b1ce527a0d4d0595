import * as z from "zod/mini";

import type { LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { unreadableOf } from "../../platform/table/records.ts";

/** An error in a ledger. */
export interface Finding {
  readonly text: string;
  /** For a difference that background work repairs: its time, or the time of the next entry. */
  readonly mendableSince?: string | undefined;
}

/** The fields of a verification that decide about its fee. */
const FeeState = z.object({
  status: z.string(),
  validUntil: z.string(),
  endedAt: z.optional(z.string()),
  feeMicros: z.int(),
  refund: z.optional(z.enum(["due", "done"])),
});

/** Verifications are deleted after this time. Their fees have been returned long before. */
const keptMs = 30 * dayMs;

/** An expiry may be noted this much later, after an outage of the queue. */
const noteMs = dayMs;

interface Fee {
  readonly entry: LedgerEntryRecord;
  readonly state: z.infer<typeof FeeState> | undefined;
}

/** Verifies the fees of a ledger: each belongs to a verification, and returns once exactly if its verification states so. */
export class FeesOfLedger {
  readonly #wallet: WalletRecord;
  /** Fees of the last days that have not returned so far, the oldest first. */
  readonly #fees = new Map<string, Fee>();

  constructor(wallet: WalletRecord) {
    this.#wallet = wallet;
  }

  /** Verifies the next entry. @returns the problems that it shows */
  async problemsOf(entry: LedgerEntryRecord): Promise<Finding[]> {
    const { seq, type, amountMicros, verificationId } = entry;
    if (type === "verification_fee") return this.#charged(entry);
    if (type !== "refund" || verificationId === undefined) return [];
    const fee = this.#fees.get(verificationId);
    if (fee === undefined)
      return [{ text: `seq ${seq} returns a fee of ${verificationId} that is not charged` }];
    this.#fees.delete(verificationId);
    const of = `seq ${seq} returns ${amountMicros} for ${verificationId}`;
    if (amountMicros !== -fee.entry.amountMicros) {
      return [{ text: `${of}, whose fee was ${-fee.entry.amountMicros}` }];
    }
    return fee.state === undefined || fee.state.refund === "done"
      ? []
      : [{ text: `${of}, which does not know` }];
  }

  /** Returns the problems of the fees that no entry has returned. */
  missing(): Finding[] {
    return [...this.#fees.keys()].flatMap((id) => this.#missing(id));
  }

  async #charged(entry: LedgerEntryRecord): Promise<Finding[]> {
    const { organizationId, seq, amountMicros, verificationId: id, createdAt } = entry;
    if (id === undefined) return [{ text: `seq ${seq} names no verification` }];
    if (this.#fees.has(id)) return [{ text: `seq ${seq} charges the fee of ${id} again` }];
    const past = this.#forget(createdAt);
    const isKept = Date.parse(createdAt) > now().getTime() - keptMs && this.#wallet.erasedAt === undefined;
    const key = keys.verification(organizationId, id);
    const state = isKept
      ? await findItem(FeeState, key, { consistent: true }).catch(unreadableOf)
      : undefined;
    if (state === "unreadable") return [...past, { text: `seq ${seq} pays for ${id}, which cannot be read` }];
    this.#fees.set(id, { entry, state });
    if (!isKept) return past;
    if (state === undefined) return [...past, { text: `seq ${seq} pays for ${id}, which does not exist` }];
    if (state.feeMicros === -amountMicros) return past;
    return [...past, { text: `seq ${seq} moves ${amountMicros} for ${id}, whose fee is ${state.feeMicros}` }];
  }

  /** Drops the fees whose verifications were deleted before an entry, so that they cannot return any more. */
  #forget(createdAt: string): Finding[] {
    const oldest = new Date(Date.parse(createdAt) - keptMs).toISOString();
    const found: Finding[] = [];
    for (const [id, { entry }] of this.#fees) {
      if (entry.createdAt > oldest) break;
      found.push(...this.#missing(id));
      this.#fees.delete(id);
    }
    return found;
  }

  #missing(id: string): Finding[] {
    const { state } = this.#fees.get(id) ?? {};
    if (state === undefined) return [];
    const { status, validUntil, endedAt: mendableSince = validUntil, refund } = state;
    if (refund === "done") return [{ text: `no entry returns the fee of ${id}`, mendableSince }];
    const text = `the fee of ${id} is not returned yet`;
    if (refund === "due") return [{ text, mendableSince }];
    if (status !== "pending" || validUntil > now().toISOString()) return [];
    return [{ text, mendableSince: new Date(Date.parse(validUntil) + noteMs).toISOString() }];
  }
}
