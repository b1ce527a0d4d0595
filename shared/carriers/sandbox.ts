import * as z from "zod";

import { dayMs, epochSeconds, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import type { HandOff, OutgoingMessage, Carrier } from "./carrier.ts";

/** What the sandbox keeps of each message, so that anyone can see how often it was handed over. */
const SandboxRecord = z.object({ entity: z.literal("sandboxMessage"), calls: z.int() });

const retentionMs = 7 * dayMs;

/** How the sandbox treats a number after so many calls with the same message. Other numbers are accepted. */
type Treatment = "accepted" | "invalid" | "refused" | "tryLater" | "unroutable";
const scenarios: Readonly<Record<string, (calls: number) => Treatment>> = {
  "15005550001": () => "invalid",
  "15005550002": () => "unroutable",
  "15005550003": (calls) => (calls <= 2 ? "tryLater" : "accepted"),
  "15005550004": (calls) => (calls <= 2 ? "tryLater" : "accepted"),
  "15005550006": () => "refused",
};

/**
 * A carrier that sends nothing: the default outside production. Like a good real one it recognises a message
 * by its reference, however often it is handed over.
 */
export const sandboxCarrier: Carrier = {
  deduplicates: true,
  async send(message: OutgoingMessage): Promise<HandOff> {
    const messageId = message.reference.slice(message.reference.indexOf(".") + 1);
    const calls = await countCall(messageId);
    const outcome = scenarios[message.to]?.(calls) ?? "accepted";
    switch (outcome) {
      case "accepted":
        return { outcome, carrierReference: `sandbox-${messageId}` };
      case "tryLater":
        return { outcome };
      case "invalid":
        return { outcome: "refused", errorCode: "MESSAGE_INVALID_DESTINATION" };
      case "unroutable":
        return { outcome: "refused", errorCode: "MESSAGE_UNROUTABLE" };
      case "refused":
        return { outcome: "refused", errorCode: "MESSAGE_PROVIDER_ERROR" };
    }
  },
};

async function countCall(messageId: string): Promise<number> {
  const expiresAt = epochSeconds(new Date(now().getTime() + retentionMs));
  const counted = await updateItem(
    SandboxRecord,
    updateOf(keys.sandboxMessage(messageId), {
      set: { entity: "sandboxMessage", expiresAt },
      add: { calls: 1 },
    }),
  );
  if (!counted.applied) throw new Error("an update without a condition was refused");
  return counted.item.calls;
}
