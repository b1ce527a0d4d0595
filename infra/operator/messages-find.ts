import * as z from "zod/mini";

import {
  attemptNames,
  failureAdvice,
  failureOf,
  failureReasons,
  stateTexts,
} from "../../shared/api/contract/failures.ts";
import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import type { Attempt } from "../../shared/messages/message/attempts.ts";
import { idDelayMs, toApiMessage, type MessageRecord } from "../../shared/messages/message/record.ts";
import { searchMessages } from "../../shared/messages/search/find.ts";
import { WalletRecord } from "../../shared/money/wallet/record.ts";
import { dayOf, now } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { countReadUnits, findTogether } from "../../shared/platform/table/read.ts";
import { undefinedIfUnreadable, unreadableOf } from "../../shared/platform/table/records.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { command, daysAgo, limit, personal, SinceOption } from "./command.ts";
import type { Context } from "./context.ts";
import { factsOf, shown } from "./messages.ts";
import { organizationBatches } from "./organization.ts";
import { listOf } from "./output.ts";

/** The search ends after the organizations with which it reaches one of these limits. */
const most = { organizations: 100_000, readUnits: 5_000_000 };

/** The messages that are read in each shard of an organization: 750,000 read units. */
const maxExamined = 10_000_000;

/** `messages find` */
export const findMessages = command({
  name: "messages find",
  summary: "Find the newest messages to a number in all organizations, with words for the customer",
  details:
    "Searches the organizations that sent something in the time, 7 days by default. Test messages are left out. The end states " +
    "the read units that the search took. It stops after 100,000 organizations or 5 million read units.",
  examples: ["15005550100 --stage prod", "+15005550100 --since 30d --limit 5", "15005550100 --json"],
  input: z.object({
    number: personal("<number>", "recipient's number, in international form", GivenPhoneNumber),
    since: SinceOption,
    limit: limit(50, 1_000, "messages"),
  }),
  run: async ({ number, since = daysAgo(7), limit: wanted }, { output }) => {
    const readUnits = countReadUnits();
    const { found, ...search } = await findInAll({ to: number, since, limit: wanted }, readUnits, output);
    for (const message of found) {
      const organization = await findOrganization(message.organizationId).catch(undefinedIfUnreadable);
      const { Message, Organization, Accepted, State, From, Delivery } = factsOf(message);
      const result = {
        ...shown(message),
        organizationName: organization?.name ?? null,
        customerText: customerText(message),
      };
      const facts = {
        Message,
        Organization: `${organization?.name ?? "erased"} (${Organization})`,
        Accepted,
        State,
        From,
        Attempts: result.attempts.map(attemptText).join("; ") || "none",
        Delivery,
        "For the customer": result.customerText,
      };
      output.result(result, `${listOf(facts)}\n`);
    }
    output.note(
      `${found.length} messages${search.hasMore ? ", and there are more" : ""}, in ${search.searched} of ` +
        `${search.listed} organizations, since ${since.toISOString()}; ${readUnits()} read units`,
    );
    for (const problem of search.problems) output.aside(`Warning: ${problem}`);
  },
});

interface Search {
  readonly to: string;
  readonly since: Date;
  readonly limit: number;
}

interface Result {
  /** Newest first. */
  readonly found: readonly MessageRecord[];
  readonly hasMore: boolean;
  /** The organizations that were listed, and those of them that sent something in the time. */
  readonly listed: number;
  readonly searched: number;
  /** Sentences about messages that were not searched. */
  readonly problems: readonly string[];
}

/**
 * Finds the newest messages to a number.
 * @param readUnits returns the read units so far
 */
export async function findInAll(
  search: Search,
  readUnits: () => number,
  output: Context["output"],
  limits = most,
): Promise<Result> {
  let found: MessageRecord[] = [];
  let [listed, searched, hasMore] = [0, 0, false];
  const problems: string[] = [];
  const inOrganization = async (wallet: WalletRecord): Promise<void> => {
    const { organizationId } = wallet;
    searched += 1;
    const result = await searchMessages(wallet, { ...search, maxExamined }).catch(unreadableOf);
    if (result === "unreadable") {
      problems.push(
        `The messages of ${organizationId} were not searched, because their index cannot be read.`,
      );
      return;
    }
    const { messages, isComplete } = result;
    found.push(...messages);
    if (messages.length === search.limit) hasMore ||= !isComplete;
    else if (!isComplete) problems.push(`Only the newest messages of ${organizationId} were searched.`);
  };
  for await (const ids of organizationBatches()) {
    if (listed >= limits.organizations || readUnits() >= limits.readUnits) {
      problems.push(`Only the first ${listed} organizations were searched.`);
      break;
    }
    const wallets = await findTogether(
      WalletRecord,
      ids.map((id) => keys.wallet(id)),
    );
    const unread = wallets.filter(({ item }) => item === undefined).map(({ key }) => key.pk);
    problems.push(...unread.map((pk) => `${pk} cannot be read, so its messages were not searched.`));
    await Promise.all(
      wallets
        .flatMap(({ item }) => (item !== undefined && hasSentSince(item, search.since) ? item : []))
        .map(inOrganization),
    );
    listed += ids.length;
    // The ids have the order of time.
    const newest = found.toSorted((one, other) => (one.id < other.id ? 1 : -1));
    found = newest.slice(0, search.limit);
    hasMore ||= newest.length > found.length;
    output.progress(`${listed} organizations, ${found.length} messages, ${readUnits()} read units`);
  }
  return { found, hasMore, listed, searched, problems };
}

/** Whether a wallet may have paid for a message since a moment. */
function hasSentSince({ messageCount, spendDay }: WalletRecord, since: Date): boolean {
  return messageCount > 0 && spendDay >= dayOf(new Date(since.getTime() - idDelayMs).toISOString());
}

function attemptText({ at, carrier, outcome, code }: Attempt): string {
  const name = attemptNames[outcome === "buffered" ? "accepted" : outcome];
  return `${name} (${[carrier, ...(code === undefined ? [] : [code])].join(", ")}) at ${at}`;
}

/** Returns the words of the console about a message: the reason of a failure with its advice, or the state. */
function customerText(record: MessageRecord): string {
  const message = toApiMessage(record);
  const failure = failureOf(message);
  if (failure !== undefined) return `${failureReasons[failure]} ${failureAdvice[failure]}`;
  const { status, scheduledAt = "", cancelledAt, delivery } = message;
  if (status === "cancelled") return `${stateTexts.cancelled} ${cancelledAt}`;
  if (status !== "queued")
    return stateTexts[delivery?.status === "undelivered" ? "unknown" : (delivery?.status ?? "pending")];
  return Date.parse(scheduledAt) > now().getTime()
    ? `${stateTexts.scheduled} ${scheduledAt}`
    : stateTexts.queued;
}
