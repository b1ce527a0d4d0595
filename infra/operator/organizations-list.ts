import * as z from "zod/mini";

import { readNotices, unusualSpend } from "../../shared/figures/operators/record.ts";
import { newestMessageAt } from "../../shared/messages/message/read.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { findWallet, listNewestWallets, type WalletRecord } from "../../shared/money/wallet/record.ts";
import { unreadableOf } from "../../shared/platform/table/records.ts";
import { findOrganization, type OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { readRights } from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser } from "../../shared/tenancy/users/record.ts";
import { command, count, limit, part } from "./command.ts";
import { right, type Columns } from "./output.ts";

/** Organizations that are read at the same time. */
const readAtOnce = 10;

type Status = "active" | "closed" | "erased" | "suspended" | "unreadable";

/** An organization in the list. Fields of an erased or unreadable one are null. */
interface Row {
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly status: Status;
  readonly balanceMicros: number | null;
  /** When its newest message was accepted: a time in ISO 8601, or only the day; null if there is none. */
  readonly lastSendAt: string | null;
}

export const columns: Columns<Row> = {
  ID: "id",
  EMAIL: "email",
  NAME: "name",
  STATUS: "status",
  BALANCE: ({ balanceMicros }) => (balanceMicros === null ? "" : right(moneyText(balanceMicros))),
  "LAST SEND": ({ lastSendAt }) => lastSendAt ?? "never",
};

/** `organizations unusual` */
export const listUnusual = command({
  name: "organizations unusual",
  summary: "List customers who spend much more in a country than in their last weeks",
  details:
    "The gateway looks each quarter of an hour, and emails new findings to the operators. A day with at least 50 messages to a country is " +
    "unusual above three times the third best amount of a day in five weeks.",
  examples: ["--stage prod", "--days 30 --json --stage prod"],
  input: z.object({
    days: part("--days <days>", "number of past days; default: 1", z._default(count(40), 1)),
  }),
  run: async ({ days }, { output }) => {
    const notices = await readNotices(days);
    output.table(
      notices.filter(({ what }) => what === unusualSpend),
      {
        DAY: "day",
        ORGANIZATION: ({ organizationId = "" }) => organizationId,
        COUNTRY: ({ country = "" }) => country,
        MESSAGES: ({ messages = 0 }) => messages,
        AMOUNT: ({ amountMicros = 0 }) => right(moneyText(amountMicros)),
        USUAL: ({ usualMicros = 0 }) => right(moneyText(usualMicros)),
      },
    );
  },
});

/** `organizations list` */
export const listOrganizations = command({
  name: "organizations list",
  summary: "List organizations, newest first",
  details:
    "The status is `closed` if the wallet is closed. Erased organizations are listed too, because their wallets remain.",
  examples: ["--stage prod", "--limit 1000 --json --stage prod", "--after org_01M7Y6EGDXHA99AE471ACHQK57"],
  discloses: true,
  input: z.object({
    limit: limit(50, 1_000, "organizations"),
    after: part(
      "--after <id>",
      "continue after this organization, the last one of the previous page",
      z.optional(z.string().check(z.regex(/^org_[0-9A-Z]{26}$/, "must be the id of an organization"))),
    ),
  }),
  run: async ({ limit: wanted, after }, { output }) => {
    // One more shows whether there is another page.
    const ids = await listNewestWallets({ after, limit: wanted + 1 });
    const rows: Row[] = [];
    for (let start = 0; start < Math.min(wanted, ids.length); start += readAtOnce) {
      const batch = ids.slice(start, Math.min(start + readAtOnce, wanted));
      rows.push(...(await Promise.all(batch.map(async (id) => readRow(id, { hasTime: true })))));
      output.progress(`${rows.length} organizations read`);
    }
    output.table(rows, columns);
    if (rows.length === 0) output.note("There are no more organizations.");
    if (ids.length > wanted) output.note(`More organizations follow: --after ${rows.at(-1)?.id}`);
  },
});

/** @param hasTime whether the row has the time of the last send, which needs a read of messages; otherwise it has the day */
export async function readRow(id: string, { hasTime = false } = {}): Promise<Row> {
  const [organization, wallet] = await Promise.all([
    findOrganization(id, { consistent: true }).catch(unreadableOf),
    findWallet(id).catch(unreadableOf),
  ]);
  const known = readable(organization);
  const rights = readable(known && (await readRights(known.id).catch(unreadableOf)));
  const user = rights?.ownerId === undefined ? undefined : await findUser(rights.ownerId).catch(unreadableOf);
  const money = readable(wallet);
  return {
    id,
    email: readable(user)?.email ?? null,
    name: known?.name ?? null,
    status: statusOf(organization, wallet),
    balanceMicros: money?.balanceMicros ?? null,
    lastSendAt: money === undefined ? null : await lastSendOf(money, hasTime),
  };
}

function readable<Record extends object>(found: Record | "unreadable" | undefined): Record | undefined {
  return found === "unreadable" ? undefined : found;
}

/** If all messages have expired, the wallet still has the day. */
async function lastSendOf(wallet: WalletRecord, hasTime: boolean): Promise<string | null> {
  const at = hasTime ? await newestMessageAt(wallet) : undefined;
  const { messageCount, spendDay } = wallet;
  return at?.toISOString() ?? (messageCount > 0 ? spendDay : null);
}

function statusOf(
  organization: OrganizationRecord | "unreadable" | undefined,
  wallet: WalletRecord | "unreadable" | undefined,
): Status {
  if (organization === undefined) return "erased";
  if (organization === "unreadable" || wallet === "unreadable") return "unreadable";
  if (organization.suspendedAt !== undefined) return "suspended";
  return wallet?.closedAt === undefined ? "active" : "closed";
}
