import * as z from "zod/mini";

import { KycRecord } from "../../shared/kyc/record.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { deleteItem, findItem, putItem, updateItem } from "../../shared/platform/table/table.ts";
import { updateOf } from "../../shared/platform/table/update.ts";

const Fields = z.record(z.string(), z.unknown());

/** What the item of an organization said of rights before there was an item of its own for them. */
export async function writeOldRights(
  organizationId: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  await updateItem(z.unknown(), updateOf(keys.organization(organizationId), { set: fields }));
}

/** Puts the rights in an organization, and its KYC submission, where an older release had them. */
export async function asOlderRelease(organizationId: string): Promise<void> {
  const { pk: _pk, sk: _sk, entity: _entity, ...rights } = await take(Fields, keys.rights(organizationId));
  await writeOldRights(organizationId, rights);
  const found = await findItem(KycRecord, keys.kyc(organizationId), { consistent: true });
  if (found === undefined) return;
  await putItem({ put: { ...keys.oldKyc(organizationId), ...found } });
  await deleteItem(keys.kyc(organizationId));
}

async function take<Item>(schema: z.ZodMiniType<Item>, key: Key): Promise<Item> {
  const found = await findItem(schema, key, { consistent: true });
  if (found === undefined) throw new Error(`there is no ${key.sk}`);
  await deleteItem(key);
  return found;
}
