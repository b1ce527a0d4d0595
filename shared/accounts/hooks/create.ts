import { randomBytes } from "node:crypto";

import type { CreatedHook, CreateHookRequest } from "../../api/contract/hooks.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { hashApiKeySecret } from "../../platform/auth/api-key-secret.ts";
import { newId } from "../../platform/ids.ts";
import { findProfile } from "../../verifications/profiles.ts";
import { makeApiKey } from "../api-keys/create-and-rotate.ts";
import { toApiHook } from "./list-and-delete.ts";
import { sealHookSecret } from "./proof.ts";

/*
 * A hook is an API key that can only send. Its secret is the id of the hook, which is no secret: a call needs the proof of
 * its login system. So a hook has the rights, limits and end of a key, and ends with the credential that made it.
 */

/**
 * Creates a hook. Its token is returned once, here, and stored only as a hash.
 * @throws ApiError NOT_FOUND for an unknown profile, and the errors of `createApiKey`
 */
export async function createHook(actor: Actor, request: CreateHookRequest): Promise<CreatedHook> {
  const { kind, profile, secret, limits, test } = request;
  if (profile !== undefined) await findProfile(actor.organizationId, profile);
  const id = newId("hok");
  const token = `hook_${randomBytes(32).toString("base64url")}`;
  const proof =
    secret === undefined
      ? { tokenHash: hashApiKeySecret(token) }
      : { sealedSecret: await sealHookSecret(actor.organizationId, id, secret) };
  const key = { name: `hook: ${kind}`, scopes: ["send" as const], limits, test };
  const { record } = await makeApiKey(actor, key, { id, kind, profile, ...proof });
  return { ...toApiHook(record), ...(secret === undefined && { token }) };
}
