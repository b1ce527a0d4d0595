import type { SenderIdRequest } from "../../../shared/api/contract/sender-ids.ts";
import { api } from "./api.ts";

/** The names and numbers that messages can come from, the default first. Numbers that are shared cannot send. */
export async function usableSenders(): Promise<readonly string[]> {
  const [senderIds, numbers] = await Promise.all([
    approvedSenderIds(),
    api().listNumbers({ query: { limit: 100 } }),
  ]);
  const own = numbers.rows.filter(({ keyword }) => keyword === undefined);
  return [...senderIds.map(({ senderId }) => senderId), ...own.map(({ number }) => number)];
}

/** The approved sender IDs, the default one first. */
async function approvedSenderIds(): Promise<readonly SenderIdRequest[]> {
  const { rows } = await api().listSenderIds({ query: { limit: 100 } });
  return rows
    .filter(({ status }) => status === "approved")
    .toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault));
}
