import * as z from "zod/mini";

import type { AcceptedBatch, SendBatchRequest } from "../../api/contract/batches.ts";
import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { coverageOf, hasLostDebit } from "../../money/wallet/coverage.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { capReached } from "../../money/wallet/spending-limits.ts";
import { config } from "../../platform/config.ts";
import { fixedId, newId } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { putItem, updateItem } from "../../platform/table/write.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { recordTestMessages } from "../message/test-messages.ts";
import type { AcceptOptions } from "./accept-one.ts";
import { decideBlock, findBlock, requireInOrder, type BlockName, type Decided } from "./batch-block.ts";
import type { BatchEntry } from "./batch-entry.ts";
import { decidedOf, isMessage, requireAll, totalMicrosOf, type Outcome } from "./batch-results.ts";
import { commit, maxAcceptedTogether, queueForSending } from "./commit.ts";
import { DestinationLimitReached, reserveDestinations } from "./destination-limits.ts";
import { checkKeyBudget, reserveBudget } from "./key-limits.ts";
import { Preparation } from "./prepare.ts";
import { reserveRecipient } from "./recipient-limits.ts";
import { endBy, releaseEach, reserveAll, type Reservation } from "./reservations.ts";

/** The same with a third write for each message, its job for later. */
const maxScheduledTogether = 32;

/**
 * Accepts the messages of a batch in blocks. A block has one debit, and one transaction with the messages, their ledger
 * entries and, with an Idempotency-Key, its results. So a repeat continues after the last block, even after a crash. Blocks
 * depend on the request alone.
 * @throws ApiError INSUFFICIENT_SCOPE, KEY_BUDGET_REACHED and SEND_RATE_EXCEEDED before anything is accepted. With an
 *   Idempotency-Key IDEMPOTENCY_KEY_REUSED, and UNAVAILABLE when a repeat has to continue it. In the mode `all` the errors of
 *   its messages
 */
export async function acceptBatch(
  organization: OrganizationRecord,
  entries: readonly (ApiError | BatchEntry)[],
  request: Pick<SendBatchRequest, "mode" | "test">,
  options: AcceptOptions = {},
): Promise<AcceptedBatch> {
  const { actor, attempt } = options;
  const isScheduled = entries.some((entry) => isEntry(entry) && entry.scheduledAt !== undefined);
  const size = isScheduled ? maxScheduledTogether : maxAcceptedTogether;
  if (request.mode === "all" && entries.length > size) {
    throw invalidField("messages", `must have at most ${size} entries in the mode all`);
  }
  const { id: organizationId } = organization;
  const preparation = new Preparation(organization, actor, request);
  const batchId =
    attempt === undefined ? newId("bat") : fixedId("bat", `${organizationId} ${attempt.request.key}`);
  const starts = Array.from({ length: Math.ceil(entries.length / size) }, (_, block) => block * size);
  const blocks = await Promise.all(
    starts.map(async (start) => {
      const name =
        attempt && ({ organizationId, batchId, start, requestHash: attempt.request.hash } as const);
      return { start, name, earlier: name && (await findBlock(name)) };
    }),
  );
  await requireInOrder(blocks);
  const undecided = blocks.filter(({ earlier }) => earlier === undefined);
  await preparation.readOptOuts(
    undecided.flatMap(({ start }) => entries.slice(start, start + size).filter(isEntry)),
  );
  const drafts = new Map<number, readonly Outcome[]>();
  for (const { start } of undecided) {
    const ofBlock = entries.slice(start, start + size);
    drafts.set(start, await Promise.all(ofBlock.map(async (entry) => draftOf(preparation, entry, batchId))));
  }
  const { limits, isTest } = preparation;
  // A batch that has begun continues: each of its blocks is checked alone.
  if (limits !== undefined && !isTest && undecided.length === blocks.length) {
    const prepared = [...drafts.values()].flat().filter(isMessage);
    await checkKeyBudget(limits, totalMicrosOf(prepared), nameOf(batchId, 0));
  }
  const acceptance = new Acceptance(preparation, batchId, request, options);
  const decided: Decided[] = [];
  for (const { start, name, earlier } of blocks) {
    const block = earlier ?? (await acceptance.decide(start, drafts.get(start) ?? [], name));
    acceptance.hasAccepted ||= block.results.some(({ id }) => id !== undefined);
    decided.push(block);
  }
  const results = decided.flatMap((block) => block.results);
  const accepted = results.filter(({ id }) => id !== undefined).length;
  const total = amountOf(decided.reduce((sum, { totalMicros }) => sum + totalMicros, 0));
  const rejected = results.length - accepted;
  const answer = { id: batchId, accepted, rejected, total, currency: config.currency(), results };
  // Rejected if another attempt has begun meanwhile, which finds the same results.
  if (attempt !== undefined) await updateItem(z.unknown(), attempt.complete(answer));
  return answer;
}

async function draftOf(
  preparation: Preparation,
  entry: ApiError | BatchEntry,
  batchId: string,
): Promise<Outcome> {
  if (!isEntry(entry)) return entry;
  try {
    const { message: text, ...fields } = entry;
    if (text instanceof ApiError) return text;
    const message = await preparation.prepare({ ...fields, message: text, batchId });
    if (!preparation.isHeld(message)) return message;
    return new ApiError("INSUFFICIENT_SCOPE", {
      message:
        "A message above `holdAbove` of its API key has to be sent alone, so that a person can approve it.",
    });
  } catch (error) {
    if (error instanceof ApiError && error.code !== "UNAVAILABLE") return error;
    throw error;
  }
}

/** The acceptance of a batch, block by block. */
class Acceptance {
  readonly #preparation: Preparation;
  readonly #batchId: string;
  readonly #mode: SendBatchRequest["mode"];
  readonly #options: AcceptOptions;
  /** Why no later message is accepted. */
  #stopped: ApiError | undefined;
  /** Whether an earlier block has an accepted message. */
  hasAccepted = false;

  constructor(
    preparation: Preparation,
    batchId: string,
    { mode }: Pick<SendBatchRequest, "mode">,
    options: AcceptOptions,
  ) {
    this.#preparation = preparation;
    this.#batchId = batchId;
    this.#mode = mode;
    this.#options = options;
  }

  /** Accepts the messages of a block that can be accepted. @returns its results, or those of a parallel request */
  async decide(start: number, drafts: readonly Outcome[], name: BlockName | undefined): Promise<Decided> {
    try {
      return await this.#decide(start, drafts, name);
    } catch (error) {
      // Without a key only this response has the ids of the messages that were accepted before.
      if (name !== undefined || !this.hasAccepted) throw error;
      log.warn("batch.stopped", { error });
      const stopped = (this.#stopped ??= error instanceof ApiError ? error : new ApiError("UNAVAILABLE"));
      return decidedOf(
        start,
        drafts.map((draft) => (isMessage(draft) ? stopped : draft)),
      );
    }
  }

  async #decide(start: number, drafts: readonly Outcome[], name: BlockName | undefined): Promise<Decided> {
    /** The reservations for numbers whose messages are not accepted yet, by the ids of these messages. */
    const ofNumbers = new Map<string, readonly Reservation[]>();
    try {
      // All of them end before an error, so that it releases all.
      const counts = await Promise.allSettled(
        drafts.map(async (draft, index) => this.#counted(draft, start + index, ofNumbers)),
      );
      let outcomes = counts.map((count) => {
        if (count.status === "rejected") throw count.reason;
        return count.value;
      });
      // Each round accepts the rest or rejects at least one message, unless the balance has grown meanwhile.
      for (let round = 0; round <= drafts.length; round += 1) {
        try {
          if (this.#mode === "all") requireAll(outcomes);
          await this.#record(start, outcomes, name);
          for (const { id } of outcomes.filter(isMessage)) ofNumbers.delete(id);
          return decidedOf(start, outcomes);
        } catch (error) {
          const earlier = name && (await findBlock(name));
          if (earlier !== undefined) {
            // The messages of that attempt have the same names.
            ofNumbers.clear();
            return earlier;
          }
          outcomes = await this.#without(outcomes, error, name);
        }
      }
      throw new ApiError("UNAVAILABLE", { isUncharged: true });
    } finally {
      await releaseEach([...ofNumbers.values()].flat());
    }
  }

  /** Counts a message against the limit of its number. */
  async #counted(
    draft: Outcome,
    index: number,
    ofNumbers: Map<string, readonly Reservation[]>,
  ): Promise<Outcome> {
    if (!isMessage(draft)) return draft;
    if (this.#stopped !== undefined || this.#preparation.isTest) return this.#stopped ?? draft;
    try {
      ofNumbers.set(draft.id, await reserveRecipient(draft, nameOf(this.#batchId, index)));
      return draft;
    } catch (error) {
      if (error instanceof ApiError && error.code === "RECIPIENT_RATE_EXCEEDED") return error;
      throw error;
    }
  }

  /** Pays and records the messages of a block together with its results. */
  async #record(start: number, outcomes: readonly Outcome[], name: BlockName | undefined): Promise<void> {
    const [first, ...others] = outcomes.filter(isMessage);
    const { isTest, limits } = this.#preparation;
    const results = name && decideBlock(name, decidedOf(start, outcomes));
    const writes = results === undefined ? [] : [results];
    if (first === undefined) {
      if (results !== undefined && !(await putItem(results)).applied) throw new ApiError("UNAVAILABLE");
      return;
    }
    const messages = [first, ...others] as const;
    if (isTest) {
      await recordTestMessages(messages, writes);
      await queueForSending(messages);
      return;
    }
    const nameOfBlock = name && nameOf(this.#batchId, start);
    const reservations = await reserveAll([
      reserveBudget(limits, totalMicrosOf(messages), nameOfBlock),
      reserveDestinations(messages, nameOfBlock),
    ]);
    // A batch is one send, although its blocks have a debit each.
    const committing = commit({ messages, isRateLimited: !this.hasAccepted, writes });
    const rate = await endBy(reservations, committing);
    this.#options.reportRateLimit?.(rate);
  }

  /** Returns the outcomes without messages that an error rejects, or throws the error if it is about the whole batch. */
  async #without(
    outcomes: readonly Outcome[],
    error: unknown,
    name: BlockName | undefined,
  ): Promise<Outcome[]> {
    if (!(error instanceof ApiError) || this.#mode === "all") throw error;
    if (error.code === "UNAVAILABLE" && (name !== undefined || !this.hasAccepted)) throw error;
    // Only the first debit of a batch counts against this limit, so a repeat can send all of it.
    if (error.code === "SEND_RATE_EXCEEDED") throw error;
    if (error instanceof DestinationLimitReached) {
      const { prefix } = error.limit;
      return outcomes.map((each) => (isMessage(each) && each.to.startsWith(prefix) ? error : each));
    }
    let kept = 0;
    if (error.code === "INSUFFICIENT_BALANCE" || error.code === "DAILY_SPEND_CAP_REACHED") {
      const messages = outcomes.filter(isMessage);
      const prices = messages.map(({ totalMicros }) => totalMicros);
      const organizationId = messages[0]?.organizationId ?? "";
      // The money may be of this batch: a rejection that is stored would be final although it comes back.
      if (name !== undefined && (await hasLostDebit(organizationId))) {
        throw new ApiError("UNAVAILABLE", { isUncharged: true });
      }
      const { count, reason } = await coverageOf(organizationId, prices);
      if (reason === undefined) return [...outcomes];
      kept = count;
      this.#stopped = reason === "INSUFFICIENT_BALANCE" ? new ApiError(reason) : capReached(reason);
    }
    const stopped = (this.#stopped ??= error);
    return outcomes.map((each) => {
      if (!isMessage(each)) return each;
      kept -= 1;
      return kept < 0 ? stopped : each;
    });
  }
}

/** Returns the name of a message of a batch for limits, or of the block that begins with it. */
function nameOf(batchId: string, index: number): string {
  return `${batchId}#${index}`;
}

function isEntry(entry: ApiError | BatchEntry): entry is BatchEntry {
  return !(entry instanceof ApiError);
}
