import { now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { acquireLease, hasLease, newLease, releaseLease } from "../../platform/table/lease.ts";
import { updateItem } from "../../platform/table/write.ts";
import { WalletRecord } from "./record.ts";

/*
 * A posting names the seq that it saw, and is rejected when a debit came in between. On a wallet with hundreds of debits a
 * second it would never succeed. A rejected posting therefore locks the wallet with a lease, and debits wait for its end.
 */

/** When the lock lapses if its holder never releases it. Debits of the wallet wait at most this time. */
const lockMs = 500;

/**
 * Locks a wallet.
 * @returns the wallet, whose seq stays as it is until the lock is released; undefined while another posting holds it
 */
export async function lockWallet(organizationId: string): Promise<WalletRecord | undefined> {
  const at = now();
  const lease = newLease(at, lockMs);
  const locked = await updateItem(
    WalletRecord,
    acquireLease(keys.wallet(organizationId), lease, at, { requires: { present: ["pk"] } }),
    { isOwn: hasLease(lease) },
  );
  return locked.applied ? locked.item : undefined;
}

/**
 * Releases the lock of a posting that was not applied; one that was applied has released it itself. A lock that cannot be
 * released now lapses in half a second, so an error here does not hide the result of the posting.
 */
export async function unlockWallet(locked: WalletRecord): Promise<void> {
  const { organizationId } = locked;
  await updateItem(WalletRecord, releaseLease(keys.wallet(organizationId), locked)).catch(
    (error: unknown) => {
      log.warn("wallet.not_unlocked", { organizationId, error });
    },
  );
}
