import * as z from "zod/mini";

import {
  blockDestination,
  limitDestination,
  readBlocked,
  unblockDestination,
  type BlockedDestination,
  type Target,
} from "../../shared/money/prices/blocked-destinations.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { command, OrganizationOption, part, Reason } from "./command.ts";
import type { About } from "./context.ts";
import { readOrganization } from "./organization.ts";
import { Prefix } from "./price-overrides.ts";
import { Amount, amountRule } from "./wallet-movements.ts";

const block = command({
  name: "destinations block",
  summary: "Send nothing to the numbers with a prefix, for one organization or for all",
  details:
    "Applies within a minute. Sends are rejected before they are charged, and campaigns skip these contacts. Messages that were " +
    "accepted before and not sent yet fail when they are due, and are refunded.",
  examples: [
    "22177 --reason 'Ticket 31: pumping' --stage prod",
    "447 --organization ada@example.com --reason 'Ticket 31: pumping'",
  ],
  asksFirst: true,
  input: z.object({ prefix: Prefix, organization: OrganizationOption, reason: Reason }),
  run: async ({ prefix, organization, reason }, { output, confirm, changed }) => {
    const target = await targetOf(prefix, organization);
    const before = await findRestriction(target, "block");
    await confirm(`reject all messages to ${textOf(target)}`, aboutOf(target, before));
    const after = await blockDestination(target, reason);
    changed(factsOf(after));
    output.result(after, `${textOf(target)}: blocked since ${after.blockedAt} (${after.reason})`);
  },
});

const unblock = command({
  name: "destinations unblock",
  summary: "Send to the numbers with a prefix again",
  details:
    "Applies within a minute. Messages that failed meanwhile stay failed. Other blocks of the same numbers stay.",
  examples: ["22177 --stage prod", "447 --organization ada@example.com"],
  asksFirst: true,
  input: z.object({ prefix: Prefix, organization: OrganizationOption }),
  run: async ({ prefix, organization }, { output, confirm }) => {
    const target = await targetOf(prefix, organization);
    const before = await findRestriction(target, "block");
    if (before === undefined) throw new Error(`There is no block of ${textOf(target)}.`);
    await confirm(`send again to ${textOf(target)}`, aboutOf(target, before));
    await unblockDestination(target);
    output.result({ ...target, unblocked: true }, `${textOf(target)}: no longer blocked`);
  },
});

const limit = command({
  name: "destinations limit",
  summary: "Limit what an organization may spend on the numbers with a prefix in a day",
  details:
    "Applies within a minute, to one organization or to each. Messages beyond the limit are rejected before they are charged, and " +
    "campaigns skip these contacts. Refunds do not count back. A limit for one organization replaces that for all of the same prefix.",
  examples: [
    "234 --daily 10.00 --reason 'Ticket 31: pumping' --stage prod",
    "234 --daily none --organization ada@example.com --reason 'Ticket 32: resolved'",
  ],
  asksFirst: true,
  input: z.object({
    prefix: Prefix,
    daily: part(
      "--daily <amount>",
      "amount for each day (UTC), or none",
      z.union([z.literal("none"), Amount], amountRule),
    ),
    organization: OrganizationOption,
    reason: Reason,
  }),
  run: async ({ prefix, daily, organization, reason }, { output, confirm, changed }) => {
    const target = await targetOf(prefix, organization);
    const before = await findRestriction(target, "limit");
    const text = daily === "none" ? "no limit" : `at most ${moneyText(daily)} a day`;
    await confirm(`limit ${textOf(target)}: ${text}`, aboutOf(target, before));
    const after = await limitDestination(target, daily === "none" ? undefined : daily, reason);
    if (after !== undefined) changed(factsOf(after));
    output.result(after ?? { ...target, daily }, `${textOf(target)}: ${text} (${reason})`);
  },
});

const list = command({
  name: "destinations list",
  summary: "List the blocked and limited destinations",
  examples: ["--stage prod"],
  input: z.object({}),
  run: async (_, { output }) => {
    output.table(await readBlocked(), {
      PREFIX: "prefix",
      ORGANIZATION: ({ organizationId = "all" }) => organizationId,
      "A DAY": ({ dailyMicros }) => (dailyMicros === undefined ? "nothing" : moneyText(dailyMicros)),
      SINCE: "blockedAt",
      REASON: "reason",
    });
  },
});

async function targetOf(prefix: string, organization: string | undefined): Promise<Target> {
  if (organization === undefined) return { prefix };
  return { prefix, organizationId: (await readOrganization(organization)).id };
}

async function findRestriction(
  { prefix, organizationId }: Target,
  kind: "block" | "limit",
): Promise<BlockedDestination | undefined> {
  const all = await readBlocked();
  return all.find(
    (each) =>
      each.prefix === prefix &&
      each.organizationId === organizationId &&
      (each.dailyMicros === undefined) === (kind === "block"),
  );
}

function aboutOf({ organizationId }: Target, before: BlockedDestination | undefined): About {
  return { organizationId, before: before === undefined ? {} : factsOf(before) };
}

function factsOf({ blockedAt, reason, dailyMicros }: BlockedDestination) {
  return { blockedAt, reason, dailyMicros };
}

function textOf({ prefix, organizationId = "all organizations" }: Target): string {
  return `numbers with ${prefix} for ${organizationId}`;
}

export const destinationCommands = [block, unblock, limit, list];
