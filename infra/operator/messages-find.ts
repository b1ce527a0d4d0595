import * as z from "zod/mini";

import {
  attemptNames,
  failureAdvice,
  failureOf,
  failureReasons,
  stateTexts,
  waitingText,
} from "../../shared/api/contract/failures.ts";
import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import type { Attempt } from "../../shared/messages/message/attempts.ts";
import { idDelayMs, toApiMessage, type MessageRecord } from "../../shared/messages/message/record.ts";
import { searchMessages, type MessageSearch } from "../../shared/messages/search/find.ts";
import { findWallet, type WalletRecord } from "../../shared/money/wallet/record.ts";
import { dayMs, dayOf, now } from "../../shared/platform/clock.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { undefinedIfUnreadable, unreadableOf } from "../../shared/platform/table/records.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { command, limit, personal, SinceOption, UntilOption } from "./command.ts";
import type { Context } from "./context.ts";
import { attemptsWithOpen, factsOf, shown } from "./messages.ts";
import { searchOrganizations } from "./organization.ts";
import { listOf } from "./output.ts";
import { countingReadUnits } from "./read-units.ts";

/** The search ends after the organizations with which it reaches them. */
export const maxReadUnits = 5_000_000;

/** The messages that are read in each shard of an organization: 750,000 read units. */
const maxExamined = 10_000_000;

/** `messages find` */
export const findMessages = command({
  name: "messages find",
  summary: "Find the newest messages to a number in all organizations, with words for the customer",
  details:
    "Searches the organizations that sent something in the time: by default in the 7 days until now, or until --until. Test messages " +
    "are left out. The end states the read units that the search took. It stops after 100,000 organizations or 5 million read units.",
  examples: [
    "15005550100 --stage prod",
    "+15005550100 --since 30d --limit 5",
    "15005550100 --since 2026-03-01 --until 2026-04-01 --limit 1000 --json --stage prod",
  ],
  discloses: true,
  input: z.object({
    number: personal("<number>", "recipient's number, in international form", GivenPhoneNumber),
    since: SinceOption,
    until: UntilOption,
    limit: limit(50, 1_000, "messages"),
  }),
  run: async ({ number, since: first, until, limit: wanted }, { output, changed }) => {
    const since = first ?? new Date((until ?? now()).getTime() - 7 * dayMs);
    if (until !== undefined && until <= since) throw new RejectedError("--until must be later than --since.");
    const { found, ...search } = await countingReadUnits(async (readUnits) => {
      const result = await findInAll({ to: number, since, until, limit: wanted }, readUnits, output);
      return { ...result, readUnits: readUnits() };
    });
    changed({ messages: found.map(({ id }) => id) });
    for (const message of found) {
      const organization = await findOrganization(message.organizationId).catch(undefinedIfUnreadable);
      const { Message, Organization, Accepted, State, From, Delivery } = factsOf(message);
      const name = organization?.name ?? null;
      const result = { ...shown(message), organizationName: name, customerText: customerText(message) };
      const facts = {
        Message,
        Organization: `${name ?? "erased"} (${Organization})`,
        Accepted,
        State,
        From,
        Attempts: result.attempts.map(attemptText).join("; ") || "none",
        Delivery,
        "For the customer": result.customerText,
      };
      output.result(result, `${listOf(facts)}\n`);
    }
    const untilText = until === undefined ? "" : ` until ${until.toISOString()}`;
    output.note(
      `${found.length} messages${search.hasMore ? ", and there are more" : ""}, in ${search.sending} of ` +
        `${search.searched} organizations, since ${since.toISOString()}${untilText}; ${search.readUnits} read units`,
    );
    for (const problem of search.problems) output.aside(`Warning: ${problem}`);
  },
});

/**
 * Finds the newest messages to a number.
 * @param readUnits returns the read units so far
 * @returns also the number of organizations, and of those that sent something in the time; and what was not searched
 */
export async function findInAll(
  search: MessageSearch & { readonly since: Date },
  readUnits: () => number,
  output: Context["output"],
) {
  let [sending, hasMore] = [0, false];
  const problems: string[] = [];
  const inOrganization = async (id: string): Promise<readonly MessageRecord[]> => {
    const wallet = await findWallet(id).catch(unreadableOf);
    if (wallet === undefined || (wallet !== "unreadable" && !hasSentSince(wallet, search.since))) return [];
    sending += 1;
    const inWallet = async (of: WalletRecord) => searchMessages(of, { ...search, maxExamined });
    const result = wallet === "unreadable" ? wallet : await inWallet(wallet).catch(unreadableOf);
    if (result === "unreadable") {
      problems.push(`The messages of ${id} were not searched, because a record cannot be read.`);
      return [];
    }
    const { messages, isComplete } = result;
    if (messages.length === search.limit) hasMore ||= !isComplete;
    else if (!isComplete) problems.push(`Only the newest messages of ${id} were searched.`);
    return messages;
  };
  const isEnough = (): boolean => readUnits() >= maxReadUnits;
  const { found, searched, isWhole } = await searchOrganizations(inOrganization, output, { isEnough });
  if (!isWhole) problems.push(`Only the first ${searched} organizations were searched.`);
  hasMore ||= found.length > search.limit;
  // The ids have the order of time.
  const newest = found.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, search.limit);
  return { found: newest, hasMore, searched, sending, problems };
}

/** Whether a wallet may have paid for a message since a moment. */
export function hasSentSince({ messageCount, spendDay }: WalletRecord, since: Date): boolean {
  return messageCount > 0 && spendDay >= dayOf(new Date(since.getTime() - idDelayMs).toISOString());
}

function attemptText({ at, carrier, outcome, code }: Attempt): string {
  const name = attemptNames[outcome === "buffered" ? "accepted" : outcome];
  return `${name} (${[carrier, ...(code === undefined ? [] : [code])].join(", ")}) at ${at}`;
}

/** Returns the words of the console about a message: the reason of a failure with its advice, or the state. */
function customerText(record: MessageRecord): string {
  const message = toApiMessage(record, { hidesCodes: true });
  const failure = failureOf(message);
  if (failure !== undefined) return `${failureReasons[failure]} ${failureAdvice[failure]}`;
  const { status, scheduledAt = "", cancelledAt, delivery } = message;
  if (status === "cancelled") return `${stateTexts.cancelled} ${cancelledAt}`;
  const state = delivery === undefined || delivery.status === "undelivered" ? "pending" : delivery.status;
  if (status !== "queued") return stateTexts[state];
  const isScheduled = Date.parse(scheduledAt) > now().getTime();
  return isScheduled
    ? `${stateTexts.scheduled} ${scheduledAt}`
    : waitingText({ attempts: attemptsWithOpen(record) });
}
