import { open, type FileHandle } from "node:fs/promises";

import * as z from "zod/mini";

import { inForce, OptOutRecord } from "../../shared/messages/opt-outs/record.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { itemsIn } from "../../shared/platform/table/lists.ts";
import {
  countersOf,
  ledgerOf,
  messagesOf,
  testMessagesOf,
  withAllShards,
} from "../../shared/platform/table/shards.ts";
import { toStored } from "../../shared/platform/table/stored-names.ts";
import type { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { callbacksOf } from "../../shared/webhooks/callbacks.ts";
import { command, Organization, personal, RequiredText } from "./command.ts";
import { errorText } from "./error-text.ts";
import { readOrganization } from "./organization.ts";
import { jsonOf } from "./output.ts";

/** Items are exported as they are stored, even those that their schema rejects. */
const Stored = z.looseObject({ pk: z.string(), sk: z.string(), entity: z.optional(z.string()) });
type Stored = z.infer<typeof Stored>;

/**
 * Removes the table's keys, secrets and their hashes, and the operator's carriers and costs: the export is for the
 * customer.
 */
function exported({ pk: _pk, sk: _sk, ...fields }: Stored): Record<string, unknown> {
  const shown = Object.entries(toStored(fields)).filter(
    ([name]) =>
      !/secret|hash|token|password|^(carrier|deliveryCarrier|costMicros|rejectedBy|attemptLog|deliveryProviderCode|code)$/i.test(
        name,
      ),
  );
  return Object.fromEntries(shown);
}

/** `organizations export` */
export const exportOrganization = command({
  name: "organizations export",
  summary: "Export all data of an organization",
  details:
    "Writes one JSON object per line. The export has no secrets, and no data that lives for a day: stored responses to " +
    "repeated requests, and rate limits.",
  examples: ["ada@example.com --to ada.jsonl", "ada@example.com --stage prod --to ada.jsonl"],
  input: z.object({
    organization: Organization,
    to: personal("--to <file>", "new file; default: standard output", z.optional(RequiredText)),
  }),
  asksFirst: true,
  run: async ({ organization, to }, { output, confirm, changed }) => {
    const found = await readOrganization(organization);
    const { id: organizationId, name } = found;
    await confirm(`export all personal data of ${name} (${organizationId})`, { organizationId });
    const file = to === undefined ? undefined : await newFile(to);
    let count = 0;
    try {
      for await (const item of itemsOfOrganization(found)) {
        const line = exported(item);
        if (file === undefined) output.json(line);
        else await file.write(`${jsonOf(line)}\n`);
        count += 1;
        output.progress(`${count} items`);
      }
    } finally {
      await file?.close();
    }
    changed({ count });
    if (to !== undefined)
      output.result({ organizationId: found.id, count, to }, `${count} items written to ${to}`);
  },
});

/** Only the current user can read the file. An existing file is not overwritten. */
async function newFile(name: string): Promise<FileHandle> {
  return open(name, "wx", 0o600).catch((error: unknown) => {
    throw new RejectedError(`Cannot create the file ${name}: ${errorText(error)}`, { cause: error });
  });
}

/** All items of an organization. */
async function* itemsOfOrganization(organization: OrganizationRecord): AsyncGenerator<Stored> {
  const { id } = organization;
  const userIds = new Set<string>();
  for await (const membership of itemsOf(keys.member(id, "").pk)) {
    userIds.add(String(membership["userId"]));
    // It has the role of the user.
    if (membership.entity === "member") yield membership;
  }
  for (const userId of userIds) {
    yield* itemsOf(keys.user(userId).pk);
    yield* itemsOf(keys.password(userId).pk);
    yield* itemsOf(keys.session(userId, "").pk);
    yield* itemsOf(keys.sessionUse(userId, "").pk);
    yield* itemsOf(keys.emailToken(userId, "").pk);
    yield* itemsOf(keys.invitation(userId).pk);
  }
  const webhookIds = [false, true].map((isTest) => callbacksOf(id, isTest).id);
  for await (const item of itemsOf(keys.organization(id).pk)) {
    if (item.entity === "webhook") webhookIds.push(item.sk.slice("WEBHOOK#".length));
    yield item;
  }
  const sharded = withAllShards(id);
  const partitions = [
    keys.rights(id).pk,
    keys.kyc(id).pk,
    keys.apiKeyUse(id, "").pk,
    keys.priceOverrides(id).pk,
    keys.wallet(id).pk,
    keys.payment(id, "").pk,
    keys.billing(id).pk,
    keys.invoice(id, "").pk,
    ledgerOf(sharded),
    messagesOf(sharded),
    testMessagesOf(id),
    keys.verification(id, "").pk,
    keys.testVerifications(id),
    countersOf(sharded),
    keys.inbound(id, "").pk,
    keys.conversation(id, "").pk,
    keys.testConversations(id),
    keys.testInbound(id),
    keys.template(id, "").pk,
    keys.heldMessage(id, "").pk,
    keys.campaign(id, "").pk,
    keys.auditEntry(id, "").pk,
    keys.auditOutcome(id, "").pk,
    ...webhookIds.map((webhookId) => keys.webhookDelivery(webhookId, "").pk),
  ];
  for (const pk of partitions.flat()) yield* itemsOf(pk);
  // A removed opt-out stays in the table, with the last STOP or START of the person.
  for await (const item of itemsOf(keys.optOut(id, "").pk)) {
    const record = OptOutRecord.safeParse(item);
    const isLifted = record.success && inForce(record.data) === undefined;
    yield isLifted ? { ...item, entity: "liftedOptOut" } : item;
  }
  // The contact has its number too.
  for await (const item of itemsOf(keys.contact(id, "").pk)) if (item.entity !== "contactNumber") yield item;
}

function itemsOf(pk: string): AsyncGenerator<Stored> {
  return itemsIn(Stored, { pk, consistent: true });
}
