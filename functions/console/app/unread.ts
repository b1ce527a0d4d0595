import { signal } from "@preact/signals";

import { api } from "./api.ts";

/** The number of conversations with an unread message; undefined before the first read. */
export const unreadCount = signal<number | undefined>(undefined);

/** Reads the number again. Without a response the old one stays. */
export async function countUnread(): Promise<void> {
  try {
    const { meta } = await api().listConversations({ query: { unread: true, limit: 1 } });
    unreadCount.value = meta.total;
  } catch {
    // The next read follows soon.
  }
}
