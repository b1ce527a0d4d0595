import { CampaignRecord } from "../../shared/audience/campaigns/record.ts";
import { CountsRecord } from "../../shared/messages/counts/counts.ts";
import { emptyTally, type Tally } from "../../shared/messages/counts/figures.ts";
import { added } from "../../shared/messages/counts/rows.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { isLow, WalletRecord } from "../../shared/money/wallet/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { firstIdAt, isTestId } from "../../shared/platform/ids.ts";
import { daySortKey } from "../../shared/platform/table/shards.ts";
import type { Actions } from "./actions.ts";
import { contactCount, firstDay, keyBudgetMicros, organizationId } from "./books-setting.ts";
import type { CountingCarrier } from "./counting-carrier.ts";
import type { Item, MemoryTable } from "./memory-table.ts";
import { itemsOf, recordsOf } from "./records.ts";
import type { MoneyPath } from "./simulation.ts";

/** The facts that the check compares. */
interface Facts {
  readonly table: MemoryTable;
  /** How often each debit was applied, by the id of its ledger entry. */
  readonly debits: ReadonlyMap<string, number>;
  readonly actions: Actions;
  readonly carriers: readonly CountingCarrier[];
  /** The number of shards of the messages. */
  readonly shards: number;
  readonly releases: readonly MoneyPath[];
  /** Runs work to its end, with no other operation at the same time. */
  readonly finish: (work: (release: MoneyPath) => Promise<unknown>) => Promise<void>;
}

/** The check of the books at the end of a run. */
export class BooksVerdict {
  readonly #facts: Facts;
  readonly #table: MemoryTable;

  constructor(facts: Facts) {
    this.#facts = facts;
    this.#table = facts.table;
  }

  /** @param ofKeys the items of API keys before they expired */
  async problems(day: string, ofKeys: readonly Item[]): Promise<string[]> {
    const problems: string[] = [];
    for (const release of this.#facts.releases) {
      await this.#facts.finish(async () => {
        const { findings, pending } = await release.verifyWallet(organizationId);
        problems.push(...findings, ...pending);
      });
    }

    const entries = recordsOf(this.#table, LedgerEntryRecord, "ledgerEntry");
    const messages = recordsOf(this.#table, MessageRecord, "message");
    const [wallet] = recordsOf(this.#table, WalletRecord, "wallet");
    const credits = entries.filter(({ type }) => type === "top_up");
    const kept = messages.filter(({ refund }) => refund !== "done");
    const expectedMicros =
      credits.reduce((sum, { amountMicros }) => sum + amountMicros, 0) -
      kept.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
    if (wallet?.balanceMicros !== expectedMicros) {
      problems.push(
        `the balance is ${wallet?.balanceMicros}, but credits less kept messages are ${expectedMicros}`,
      );
    }
    if (wallet?.settledSeq !== wallet?.seq || wallet?.pendingWork !== undefined) {
      problems.push(`the wallet was left unsettled: ${JSON.stringify(wallet)}`);
    }
    if (wallet === undefined || isLow(wallet) !== (wallet.lowBalanceNotedAt !== undefined)) {
      problems.push(`the customer was not notified of the balance: ${JSON.stringify(wallet)}`);
    }
    if (wallet?.messageCount !== messages.length) {
      problems.push(`${wallet?.messageCount} messages are counted, ${messages.length} are there`);
    }
    // Days are counted by the ids of their messages, which may be slightly younger than the times when they were queued.
    for (const each of new Set([firstDay, day])) {
      const from = firstIdAt("msg", new Date(each));
      const to = firstIdAt("msg", new Date(Date.parse(each) + dayMs));
      const ofDay = messages.filter(({ id }) => id >= from && id < to);
      problems.push(...(await this.#problemsOfCounts(ofDay, each)));
    }
    problems.push(...this.#problemsOfAccepted(messages, wallet));
    problems.push(...this.#problemsOfCampaign(messages));
    problems.push(...this.#problemsOfKeys(messages, ofKeys));
    problems.push(...this.#problemsOfTests(entries, ofKeys));
    // One top-up at the start, the successful ones, and at most one for each key.
    if (credits.length < 1 + this.#facts.actions.toppedUp)
      problems.push("a successful top-up is not in the ledger");
    for (const { id, unitPriceMicros, totalMicros, segments } of messages) {
      const isOnePrice =
        this.#facts.actions.prices.has(unitPriceMicros) && totalMicros === segments * unitPriceMicros;
      if (!isOnePrice) problems.push(`${id} has a price that there never was`);
    }
    problems.push(...this.#problemsOfOutcomes(messages, entries));
    for (const [id, times] of this.#facts.debits)
      if (times > 1) problems.push(`debit ${id} was applied ${times} times`);
    const stored = new Set(messages.map(({ id }) => id));
    for (const id of this.#facts.actions.acceptedMessages)
      if (!stored.has(id)) problems.push(`${id} was accepted and is gone`);
    return problems;
  }

  /** Checks that test messages are free, reach no carrier, and end. */
  #problemsOfTests(entries: readonly LedgerEntryRecord[], ofKeys: readonly Item[]): string[] {
    const problems: string[] = [];
    for (const { id, status, refund } of ofKeys
      .filter(({ entity }) => entity === "message")
      .map((item) => MessageRecord.parse(item))) {
      const isFree = refund === undefined && entries.every(({ messageId }) => messageId !== id);
      if (!isFree || this.#facts.carriers.some(({ taken }) => taken.has(id)))
        problems.push(`${id} is no mere test`);
      // The last release knows no test messages, and drops their jobs.
      if (status === "queued" && this.#facts.releases.length === 1) problems.push(`${id} never ended`);
    }
    return problems;
  }

  /** Checks that each message was paid once, ended, and was accepted at most once. */
  #problemsOfOutcomes(messages: readonly MessageRecord[], entries: readonly LedgerEntryRecord[]): string[] {
    const problems: string[] = [];
    for (const { id, status } of messages) {
      const paid = entries.filter(({ type, messageId }) => type === "message" && messageId === id).length;
      if (paid !== 1) problems.push(`${id} was paid ${paid} times`);
      if (status === "queued") problems.push(`${id} never ended`);
      const taken = this.#facts.carriers.reduce((sum, { taken: its }) => sum + (its.get(id) ?? 0), 0);
      if (taken > 1) problems.push(`${id} was accepted ${taken} times`);
      if (taken === 0 && status === "sent") problems.push(`${id} is sent, and no carrier has it`);
    }
    return problems;
  }

  /** Checks that the wallet has counted every message, and no more than there were debits. */
  #problemsOfAccepted(messages: readonly MessageRecord[], wallet: WalletRecord | undefined): string[] {
    const days = new Map(
      recordsOf(this.#table, CountsRecord, "messageCounts")
        .filter(({ acceptedByWallet }) => acceptedByWallet > 0)
        .map(({ sk, acceptedByWallet }) => [sk, acceptedByWallet] as const),
    );
    const { spendDay = "", acceptedToday = 0 } = wallet ?? {};
    const sk = daySortKey(spendDay);
    // A function may have died after it noted the day, and before the wallet was updated.
    days.set(sk, Math.max(days.get(sk) ?? 0, acceptedToday));
    const accepted = [...days.values()].reduce((sum, each) => sum + each, 0);
    const debits = itemsOf(this.#table, "ledgerEntry").filter(
      ({ type }) => type === "message" || type === "void",
    ).length;
    if (accepted >= messages.length && accepted <= debits) return [];
    return [`the wallet has counted ${accepted} of ${messages.length} messages, in ${debits} debits`];
  }

  /** Checks that each held message was decided once and at its price, and that the budget covers the messages of its key. */
  #problemsOfKeys(messages: readonly MessageRecord[], ofKeys: readonly Item[]): string[] {
    const problems: string[] = [];
    const approved = new Map(
      ofKeys
        .filter((item) => item["entity"] === "heldMessage" && item["status"] === "approved")
        .map((item) => [item["messageId"], item["totalMicros"]] as const),
    );
    // The model of 0.4.0 has another name for the key.
    const isOfHeldKey = ({ apiKeyId = "" }: MessageRecord): boolean => /^key_(held|0+1)$/.test(apiKeyId);
    const ofHeld = messages.filter(isOfHeldKey);
    if (ofHeld.length !== approved.size)
      problems.push(`${approved.size} approvals made ${ofHeld.length} messages`);
    for (const { id, totalMicros } of ofHeld)
      if (approved.get(id) !== totalMicros) problems.push(`${id} has another price than was approved`);
    let budgetedMicros = 0;
    for (const { uses } of ofKeys.filter(isKeyBudget)) {
      budgetedMicros += Number(uses);
      if (Number(uses) > keyBudgetMicros) problems.push("a key spent more than its budget");
    }
    const spentMicros = messages
      .filter(({ apiKeyId }) => apiKeyId === "key_budget")
      .reduce((sum, { totalMicros }) => sum + totalMicros, 0);
    if (spentMicros > budgetedMicros) problems.push("a key spent more than was counted");
    return problems;
  }

  /** Checks that no contact got two messages, and that the progress matches the messages. */
  #problemsOfCampaign(messages: readonly MessageRecord[]): string[] {
    const [campaign] = recordsOf(this.#table, CampaignRecord, "campaign");
    const sent = messages.filter(({ campaignId }) => campaignId === campaign?.id);
    const chargedMicros = sent.reduce((sum, { totalMicros }) => sum + totalMicros, 0);
    const problems: string[] = [];
    if (new Set(sent.map(({ to }) => to)).size !== sent.length) problems.push("a contact got two messages");
    if (campaign?.accepted !== sent.length) problems.push("the campaign's progress is wrong");
    if (campaign?.chargedMicros !== chargedMicros) problems.push("the campaign's price is wrong");
    if (campaign?.status === "sending") problems.push("the campaign never ended");
    if (campaign?.status === "completed" && sent.length !== contactCount) {
      problems.push(`the campaign completed with ${sent.length} of ${contactCount} contacts`);
    }
    return problems;
  }

  /** Checks that closing a day sets its counts to those of the messages, whatever happened to the counters. */
  async #problemsOfCounts(messages: readonly MessageRecord[], day: string): Promise<string[]> {
    const ids = new Set(messages.map(({ id }) => id));
    let isClosed = false;
    await this.#facts.finish(async (release) => {
      isClosed = await release.closeDay(organizationId, { day, shards: this.#facts.shards, ids });
    });
    const counts = recordsOf(this.#table, CountsRecord, "messageCounts").filter(
      ({ sk }) => sk === daySortKey(day),
    );
    const counted = counts.reduce<Tally>(added, emptyTally);
    const total = (status: string): number => messages.filter((each) => each.status === status).length;
    const isExact =
      isClosed &&
      counts.length === this.#facts.shards &&
      counted.accepted === messages.length &&
      counted.sent === total("sent") &&
      counted.failed === total("failed") &&
      counted.cancelled === total("cancelled");
    return isExact ? [] : [`the counts are wrong: ${JSON.stringify(counts)}`];
  }
}

/** Whether an item is a held message, the budget of a key, or a test message. */
export function isOfKey(item: Item): boolean {
  return item["entity"] === "heldMessage" || isKeyBudget(item) || isTestId(String(item["id"]));
}

function isKeyBudget({ pk }: Item): boolean {
  return String(pk).startsWith("LIMIT#key-budget#");
}
