import * as z from "zod/mini";

import type { Key } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { putItem, putUnchecked } from "../../shared/platform/table/write.ts";

/** Replaces fields of an item with values that this release does not write. */
export async function damage(key: Key, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const item = await findItem(z.looseObject({}), key, { consistent: true });
  await putItem(putUnchecked(key, { ...item, ...fields }));
}
