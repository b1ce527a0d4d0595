import { randomUUID } from "node:crypto";

import { now } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { WalletRecord } from "./record.ts";

/*
 * A posting names the seq that it saw, and is refused when a debit came in between: on a wallet that is debited hundreds
 * of times a second it would never get through. So one that was refused takes a turn, for which debits wait.
 */

/** How long a turn lasts if its holder never ends it. Debits of the wallet wait for so long at the worst. */
const turnMs = 500;

/** Whether somebody else's turn is on, so that a debit or a posting has to wait. */
export function isTaken({ turnUntil }: WalletRecord): boolean {
  return turnUntil !== undefined && turnUntil >= now().toISOString();
}

/** What a wallet must be like for whoever has no turn; `:now` is the present time in ISO 8601. */
export const nobodysTurn = "attribute_not_exists(turnUntil) OR turnUntil < :now";

/**
 * Takes the next turn.
 * @returns the wallet, whose seq stays as it is until the turn is over; undefined while somebody else has it
 */
export async function takeTurn(organizationId: string): Promise<WalletRecord | undefined> {
  const at = now();
  const turnToken = randomUUID();
  const taken = await updateItem(
    WalletRecord,
    updateOf(
      keys.wallet(organizationId),
      { set: { turnToken, turnUntil: new Date(at.getTime() + turnMs).toISOString() } },
      {
        present: ["pk"],
        where: nobodysTurn,
        values: { ":now": at.toISOString() },
      },
    ),
    { isOwn: (found) => found.turnToken === turnToken },
  );
  return taken.applied ? taken.item : undefined;
}

/**
 * Ends a turn that came to nothing. One that led to a posting ends with it, and one that cannot be ended now is over by
 * itself in half a second, which is no reason to hide what became of the posting.
 */
export async function endTurn({ organizationId, turnToken }: WalletRecord): Promise<void> {
  if (turnToken === undefined) return;
  const remove = ["turnToken", "turnUntil"];
  const end = updateOf(keys.wallet(organizationId), { remove }, { is: { turnToken } });
  await updateItem(WalletRecord, end).catch((error: unknown) => {
    log.warn("wallet.turn_not_ended", { organizationId, error });
  });
}
