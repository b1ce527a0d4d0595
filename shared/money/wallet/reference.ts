import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { operatorTransactionTypes } from "../../api/contract/wallet.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { insertOf, type Put } from "../../platform/table/write.ts";
import { moneyText } from "./money.ts";
import type { WalletRecord } from "./record.ts";

/*
 * The references of the operator's movements of money, so that a bank transfer or an invoice is booked once, to one customer. A
 * reference is one item, which is written with the ledger entry, and never changed or deleted.
 */

/** The fields that are equal if two movements with one reference are the same. */
export interface Movement {
  readonly organizationId: string;
  readonly type: (typeof operatorTransactionTypes)[number];
  /** In micro-units; negative to charge money. */
  readonly amountMicros: number;
  /**
   * Unique for ever and over all organizations. A repeated movement changes nothing. The ledger shows it to the customer.
   */
  readonly reference: string;
}

export const ReferenceRecord = z.object({
  entity: z.literal("reference"),
  reference: z.string(),
  organizationId: z.string(),
  type: z.enum(operatorTransactionTypes),
  amountMicros: z.int(),
  /** The balance after the movement. */
  balanceMicros: z.int(),
  createdAt: z.string(),
});
export type ReferenceRecord = z.infer<typeof ReferenceRecord>;

/** A reference belongs to another movement, which the message names. */
export class ReferenceTakenError extends RejectedError {
  override readonly name = "ReferenceTakenError";

  constructor({ reference, type, amountMicros, organizationId, createdAt }: ReferenceRecord) {
    super(
      `The reference ${reference} belongs to another movement: ${type} of ${moneyText(amountMicros)} for ` +
        `${organizationId} at ${createdAt}. Nothing was changed.`,
    );
  }
}

/** Returns the write that reserves the reference of a movement. It fails if the reference was used before. */
export function referenceOf(
  { reference, organizationId, type, amountMicros }: Movement,
  { balanceMicros, lastAt }: Pick<WalletRecord, "balanceMicros" | "lastAt">,
): Put {
  const record: ReferenceRecord = {
    entity: "reference",
    reference,
    organizationId,
    type,
    amountMicros,
    balanceMicros,
    createdAt: lastAt,
  };
  return insertOf(keyOf(reference), record);
}

/** Returns the movement that a reference was used for; undefined if it was never used. */
export async function findReference(reference: string): Promise<ReferenceRecord | undefined> {
  return findItem(ReferenceRecord, keyOf(reference), { consistent: true });
}

/**
 * Returns the result of the same movement before; undefined if its reference was never used.
 * @throws ReferenceTakenError when the reference belongs to a movement of another organization, type or amount
 */
export async function findMovement(
  movement: Movement,
): Promise<Pick<WalletRecord, "balanceMicros"> | undefined> {
  const found = await findReference(movement.reference);
  if (found === undefined) return undefined;
  const isSame = (["organizationId", "type", "amountMicros"] as const).every(
    (field) => found[field] === movement[field],
  );
  if (!isSame) throw new ReferenceTakenError(found);
  return { balanceMicros: found.balanceMicros };
}

/** Hashed, because a reference may be longer than a key. */
function keyOf(reference: string): ReturnType<typeof keys.reference> {
  return keys.reference(createHash("sha256").update(reference).digest("hex"));
}
