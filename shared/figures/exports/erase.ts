import { gunzipSync } from "node:zlib";

import * as z from "zod/mini";

import { keys } from "../../platform/table/keys.ts";
import { forEachOf } from "../../platform/table/lists.ts";
import { deleteItem } from "../../platform/table/write.ts";
import { ExportPartRecord, hasExpired } from "./record.ts";

/** An export or a part of one. */
const StoredExport = z.object({
  pk: z.string(),
  sk: z.string(),
  status: z.optional(z.string()),
  content: z.optional(ExportPartRecord.shape.content),
  expiresAt: z._default(z.number(), 0),
});

/**
 * Deletes the exports of an organization that contain a phone number. Customers can make them again.
 * @returns how many, and how many others still collect their rows
 */
export async function eraseExportsOf(
  organizationId: string,
  phoneNumber: string,
): Promise<{ readonly exports: number; readonly running: number }> {
  const { pk } = keys.export(organizationId, "");
  const affected = new Set<string>();
  let running = 0;
  await forEachOf(StoredExport, pk, async ({ sk, status, content, expiresAt }) => {
    if (status === "running" && !hasExpired({ expiresAt })) running += 1;
    if (content !== undefined && gunzipSync(content).includes(phoneNumber))
      affected.add(sk.replace(/#.*/, ""));
  });
  for (const id of affected) {
    const itsItems = { from: id, to: `${id}#~` };
    const erase = async ({ sk }: { readonly sk: string }): Promise<void> => {
      await deleteItem({ pk, sk });
    };
    await forEachOf(StoredExport, pk, erase, itsItems);
  }
  return { exports: affected.size, running };
}
