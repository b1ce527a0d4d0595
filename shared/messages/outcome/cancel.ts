import { ApiError } from "../../api/contract/errors.ts";
import type { Message } from "../../api/contract/sms.ts";
import { postToWallet } from "../../money/wallet/post.ts";
import type { Viewer } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { transact } from "../../platform/table/transact.ts";
import { countOutcomes } from "../counts/counts.ts";
import { effectsOf } from "../message/effects.ts";
import { ledgerFieldsOf } from "../message/ledger-fields.ts";
import { readMessage } from "../message/read.ts";
import { toApiMessage } from "../message/record.ts";
import { markCancelled } from "../message/transitions.ts";

/**
 * Cancels a scheduled message that is not yet due, and returns its price in the same write. A repetition has the same
 * result. The message's job finds it cancelled and does nothing.
 * @throws ApiError NOT_FOUND, CONFLICT when it is not scheduled or is due; WALLET_MISSING
 */
export async function cancelMessage(viewer: Viewer, messageId: string): Promise<Message> {
  const message = await readMessage(viewer, messageId);
  if (message.status === "cancelled") return toApiMessage(message, viewer);
  const at = now();
  if (message.status !== "queued" || message.scheduledAt === undefined) throw tooLate();
  if (Date.parse(message.scheduledAt) <= at.getTime()) throw tooLate();
  const refunded = effectsOf(message).isPaid
    ? await postToWallet({
        organizationId: message.organizationId,
        type: "refund",
        amountMicros: message.totalMicros,
        messageId,
        ...ledgerFieldsOf(message),
        together: () => [markCancelled(message, at)],
      })
    : void (await transact({ message: markCancelled(message, at) }));
  const found = await readMessage(viewer, messageId);
  if (found.status !== "cancelled") throw tooLate();
  if (refunded !== undefined) await countOutcomes([found]);
  return toApiMessage(found, viewer);
}

function tooLate(): ApiError {
  return new ApiError("CONFLICT", {
    message: "Only a scheduled message that still waits for its time can be cancelled.",
  });
}
