import { signal } from "@preact/signals";

import { api } from "./api.ts";
import { may } from "./rights.ts";

/** How many entries of a view wait for the person, by the path of the view. */
export const waiting = signal<Readonly<Record<"conversations" | "held-messages", number>>>({
  conversations: 0,
  "held-messages": 0,
});

/** Counts them again. Without a response the old counts stay, and the lists show the entries. */
export async function countWaiting(): Promise<void> {
  const one = { limit: 1 };
  try {
    const [unread, held] = await Promise.all([
      api().listConversations({ query: { ...one, unread: true } }),
      may("send") ? api().listHeldMessages({ query: { ...one, status: "held" } }) : undefined,
    ]);
    waiting.value = { conversations: unread.meta.total, "held-messages": held?.meta.total ?? 0 };
  } catch {
    // The next count follows soon.
  }
}
