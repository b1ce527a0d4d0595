import * as z from "zod";

import type { ApiKey } from "../contract/accounts.ts";

/** What an organisation sees of its key. The credential itself is a second item, found by its hash. */
export const ApiKeyRecord = z.object({
  entity: z.literal("apiKey"),
  id: z.string(),
  organizationId: z.string(),
  secretHash: z.string(),
  hint: z.string(),
  name: z.string().optional(),
  createdAt: z.string(),
  disabledAt: z.string().optional(),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

export function presentApiKey(record: ApiKeyRecord): ApiKey {
  return {
    id: record.id,
    name: record.name,
    hint: record.hint,
    status: record.disabledAt === undefined ? "active" : "disabled",
    createdAt: record.createdAt,
    disabledAt: record.disabledAt,
  };
}
