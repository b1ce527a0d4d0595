import { text } from "node:stream/consumers";

import * as z from "zod/mini";

import { endForOperator } from "../../shared/accounts/api-keys/end.ts";
import { usesOfKeys } from "../../shared/accounts/api-keys/list-and-delete.ts";
import { idSchema } from "../../shared/api/contract/primitives.ts";
import { hashApiKeySecret, isApiKeySecret } from "../../shared/platform/auth/api-key-secret.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import {
  allApiKeys,
  CredentialRecord,
  readApiKey,
  toApiApiKey,
  type ApiKeyRecord,
} from "../../shared/tenancy/api-keys/record.ts";
import { findWebhook, readWebhooks, toApiWebhook } from "../../shared/webhooks/record.ts";
import { stopWebhook, webhooksMadeWith } from "../../shared/webhooks/webhooks.ts";
import { command, flag, Organization, OrganizationOption, part, Reason } from "./command.ts";
import { readLine, type Context } from "./context.ts";
import { readOrganization } from "./organization.ts";

/*
 * The parts of an organization that can leak, or call or be called too often: API keys, login hooks and webhooks. Each can be
 * stopped alone.
 */

const keyList = command({
  name: "keys list",
  summary: "List an organization's API keys and login hooks, newest first",
  examples: ["ada@example.com --stage prod"],
  discloses: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, { output }) => {
    const { id: organizationId } = await readOrganization(organization);
    const [records, uses] = await Promise.all([allApiKeys(organizationId), usesOfKeys(organizationId)]);
    const rows = records.map((record) => ({
      organizationId,
      ...toApiApiKey(record, uses.get(record.id)),
      kind:
        record.hook === undefined ? (record.test === true ? "test key" : "key") : `${record.hook.kind} hook`,
    }));
    output.table(rows, {
      ID: "id",
      STATUS: "status",
      KIND: "kind",
      "BEGINS WITH": "hint",
      NAME: ({ name = "" }) => name,
      SCOPES: ({ scopes }) => scopes.join(" "),
      CREATED: "createdAt",
      "CREATED WITH": ({ createdBy }) => createdBy.id,
      "LAST USED": ({ lastUsedAt = "never" }) => lastUsedAt,
    });
  },
});

/** Disables a key or a hook, after the operator has agreed. */
async function disable(record: ApiKeyRecord, { output, confirm, changed }: Context): Promise<void> {
  const { organizationId, id: keyId, hint, name = "without a name", disabledAt } = record;
  const what = record.hook === undefined ? "API key" : "login hook";
  await confirm(
    `disable the ${what} ${keyId} (${hint}, ${name}) of ${organizationId}, and keys that were made with it`,
    {
      organizationId,
      before: { keyId, disabledAt },
    },
  );
  const ended = await endForOperator(record);
  if (ended === undefined) throw new RejectedError(`The ${what} ${keyId} was deleted meanwhile.`);
  const webhooks = (await webhooksMadeWith(organizationId, keyId)).map(({ id }) => id);
  const result = { organizationId, keyId, disabledAt: ended.key.disabledAt, others: ended.others, webhooks };
  changed(result);
  const remaining = webhooks.map(
    (id) => `\nA webhook that was made with it is still called: webhooks disable ${organizationId} ${id}`,
  );
  output.result(
    result,
    `${keyId} is disabled since ${ended.key.disabledAt}, with ${ended.others} keys that were made with it${remaining.join("")}`,
  );
}

/** Returns the API keys in a text, once each. Placeholders do not have their checksum. */
function secretsIn(input: string): string[] {
  const words = input.match(/\bnn_\w+/g) ?? [];
  return [...new Set(words.filter(isApiKeySecret))];
}

const keyDisable = command({
  name: "keys disable",
  summary: "Disable an API key, and the keys that were made with it",
  details:
    "Its next request is rejected, and it cannot be enabled again. Log-ins and other keys of the customer keep working. Owners and " +
    "administrators get an email within twenty minutes. Name the ID and the organization of the key, or give its secret on standard " +
    "input, so that no shell stores it. Text around the secret does not matter.",
  examples: [
    "--secret-stdin --reason 'In a public repository' --stage prod --yes < leak.txt",
    "key_01M7Y6EGDXHA99AE471ACHQK57 --organization ada@example.com --reason 'Ticket 12'",
  ],
  asksFirst: true,
  input: z.object({
    key: part("[key]", "ID of the key, as shown by keys list", z.optional(idSchema("key"))),
    organization: OrganizationOption,
    secretStdin: flag("--secret-stdin", "read the secret of the key from standard input"),
    reason: Reason,
  }),
  run: async ({ key, organization, secretStdin }, context) => {
    const isUnclear =
      key === undefined
        ? organization !== undefined || !secretStdin
        : organization === undefined || secretStdin;
    if (isUnclear) throw new RejectedError("Give a key with --organization, or --secret-stdin.");
    if (secretStdin) {
      // The same terminal confirms the change.
      const typed = process.stdin.isTTY ? ((await readLine("API key: ")) ?? "") : await text(process.stdin);
      const [secret, another] = secretsIn(typed);
      if (secret === undefined)
        throw new RejectedError("Standard input has no API key: nn_ and 38 letters and digits.");
      if (another !== undefined) {
        throw new RejectedError(
          "Nothing was disabled: standard input has several API keys. Disable one after another.",
        );
      }
      return disable(await keyWith(secret), context);
    }
    const { id } = await readOrganization(organization ?? "");
    const record = (await allApiKeys(id)).find((each) => each.id === key);
    if (record === undefined) throw new RejectedError(`There is no API key ${key} of ${id}.`);
    return disable(record, context);
  },
});

const hookDisable = command({
  name: "hooks disable",
  summary: "Disable a login hook",
  details:
    "Its next call is rejected, and it cannot be enabled again. Owners and administrators get an email within twenty minutes.",
  examples: ["hok_01M7Y6EGDXHA99AE471ACHQK57 --reason 'Ticket 12' --stage prod"],
  asksFirst: true,
  input: z.object({
    hook: part("<hook>", "ID of the hook, which is in its address", idSchema("hok")),
    reason: Reason,
  }),
  run: async ({ hook }, context) => disable(await keyWith(hook), context),
});

/** Finds a key by its secret, or a hook by its ID. */
async function keyWith(secretOrHookId: string): Promise<ApiKeyRecord> {
  const key = keys.apiKey(hashApiKeySecret(secretOrHookId));
  const credential = await findItem(CredentialRecord, key, { consistent: true });
  if (credential === undefined)
    throw new RejectedError("There is no such API key or hook. It may have been deleted.");
  return readApiKey(credential.organizationId, credential.keyId);
}

const webhookList = command({
  name: "webhooks list",
  summary: "List an organization's webhooks, newest first",
  examples: ["ada@example.com --stage prod"],
  discloses: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, { output }) => {
    const { id: organizationId } = await readOrganization(organization);
    const rows = (await readWebhooks(organizationId)).map((webhook) => ({
      organizationId,
      ...toApiWebhook(webhook),
      createdWith: webhook.createdWith ?? webhook.createdBy,
    }));
    output.table(rows, {
      ID: "id",
      STATUS: "status",
      REASON: ({ disabledReason = "" }) => disabledReason,
      URL: "url",
      EVENTS: ({ events }) => events.join(" "),
      CREATED: "createdAt",
      "CREATED WITH": ({ createdWith = "" }) => createdWith,
    });
  },
});

const webhookDisable = command({
  name: "webhooks disable",
  summary: "Disable a webhook",
  details:
    "It is not called any more. Owners and administrators get an email within twenty minutes. The customer can enable it again, " +
    "which all owners get an email about. If a stolen key changed the webhook, first disable the key.",
  examples: ["ada@example.com whk_01M7Y6EGDXHA99AE471ACHQK57 --reason 'Ticket 12' --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    webhook: part("<webhook>", "ID of the webhook, as shown by webhooks list", idSchema("whk")),
    reason: Reason,
  }),
  run: async ({ organization, webhook: id }, { output, confirm, changed }) => {
    const { id: organizationId } = await readOrganization(organization);
    const webhook = await findWebhook(organizationId, id);
    if (webhook === undefined) throw new RejectedError(`There is no webhook ${id} of ${organizationId}.`);
    const { url, disabledAt } = webhook;
    await confirm(`disable the webhook ${id} of ${organizationId}, which calls ${url}`, {
      organizationId,
      before: { webhookId: id, disabledAt },
    });
    const stopped = await stopWebhook(webhook);
    changed({ webhookId: id, stopped });
    output.result(
      { organizationId, webhookId: id, stopped },
      stopped ? `${id} is disabled` : `${id} was disabled before`,
    );
  },
});

export const credentialCommands = [keyList, keyDisable, hookDisable, webhookList, webhookDisable];
