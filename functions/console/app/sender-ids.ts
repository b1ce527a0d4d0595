import type { SenderIdRequest } from "../../../shared/api/contract/sender-ids.ts";
import { api } from "./api.ts";

/** The approved sender IDs, the default one first. */
export async function approvedSenderIds(): Promise<readonly SenderIdRequest[]> {
  const { rows } = await api().listSenderIds({ query: { limit: 100 } });
  return rows
    .filter(({ status }) => status === "approved")
    .toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault));
}
