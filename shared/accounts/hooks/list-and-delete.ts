import { ApiError } from "../../api/contract/errors.ts";
import type { Hook } from "../../api/contract/hooks.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { config } from "../../platform/config.ts";
import { pageOf } from "../../platform/table/page.ts";
import {
  allApiKeys,
  type ApiKeyRecord,
  hookIdOf,
  keyIdOf,
  readApiKey,
  toApiApiKey,
} from "../../tenancy/api-keys/record.ts";
import { deleteApiKey } from "../api-keys/list-and-delete.ts";

/** Returns the hooks of an organization, newest first. */
export async function listHooks(organizationId: string, query: PageQuery): Promise<Page<Hook>> {
  const hooks = (await allApiKeys(organizationId)).filter(({ hook }) => hook !== undefined);
  return pageOf(hooks.map(toApiHook), query);
}

/** @throws ApiError NOT_FOUND, also for a hook of another organization */
export async function getHook(organizationId: string, hookId: string): Promise<Hook> {
  return toApiHook(await readApiKey(organizationId, keyIdOf(hookId)));
}

/** Deletes a hook. @throws the errors of `deleteApiKey` */
export async function deleteHook(actor: Actor, hookId: string): Promise<{ id: string; deleted: true }> {
  const { id } = await getHook(actor.organizationId, hookId);
  await deleteApiKey(actor, keyIdOf(id));
  return { id, deleted: true };
}

/** @throws ApiError NOT_FOUND for a key that is no hook */
export function toApiHook(record: ApiKeyRecord): Hook {
  if (record.hook === undefined) throw new ApiError("NOT_FOUND");
  const { status, test, limits, createdAt } = toApiApiKey(record);
  const id = hookIdOf(record.id);
  return { id, ...record.hook, url: `${config.apiUrl()}/v1/hooks/${id}`, status, test, limits, createdAt };
}
