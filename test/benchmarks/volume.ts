import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { countingReadUnits } from "../../infra/operator/read-units.ts";
import { sumOfLedger } from "../../shared/figures/books/movements.ts";
import { newMessage } from "../../shared/messages/accept/new-message.ts";
import { messagesOfDay, recount } from "../../shared/messages/counts/recount.ts";
import { ledgerEntry } from "../../shared/money/wallet/ledger.ts";
import { newWallet, readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, dayOf } from "../../shared/platform/clock.ts";
import { derivedId, newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { ledgerKey, messageKey, oneShard } from "../../shared/platform/table/shards.ts";
import { putOf } from "../../shared/platform/table/write.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { onePrice } from "../support/prices.ts";
import type { Figure, Suite } from "./figures.ts";
import { readLocalStack, startBenchmarkGateway } from "./gateway.ts";
import { TableFile } from "./rows.ts";

// `npm run bench -- volume`: what it costs to close a day and the books of one organization with many messages. The CPU time is
// that of the code and of its HTTP requests, in this thread. The store has a thread of its own.

const fullCount = 200_000;
const quickCount = 10_000;
const chunkSize = 1_000;
const priceMicros = 7_900;

export const volumeSuite: Suite = async ({ isQuick }, note) => {
  const count = isQuick ? quickCount : fullCount;
  const { table } = await readLocalStack();
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-volume-"));
  const rows = new TableFile(table, dataFolder);
  const organizationId = newId("org");
  const at = new Date(Date.now() - 2 * dayMs);
  note(`volume: writing ${count} messages`);
  const [wallet, listing] = newWallet(organizationId, at);
  const paid = { balanceMicros: -count * priceMicros, seq: count, settledSeq: count, messageCount: count };
  rows.write([putOf(keys.wallet(organizationId), { ...wallet.put, ...paid }), listing]);
  for (let start = 0; start < count; start += chunkSize) {
    const seqs = Array.from({ length: chunkSize }, (_, index) => start + index + 1);
    rows.write(seqs.flatMap((seq) => messageAndEntry(organizationId, seq, at)));
  }
  rows.close();
  const gateway = await startBenchmarkGateway({ dataFolder });
  const figures: Figure[] = [];
  const measure = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    note(`volume: ${what}`);
    const { user, system } = process.threadCpuUsage();
    const units = await countingReadUnits(async (readUnits) => {
      await work();
      return readUnits();
    });
    const used = process.threadCpuUsage();
    const cpuMs = (used.user + used.system - user - system) / 1_000;
    const add = (name: string, value: number, unit: string): void =>
      void figures.push({ suite: "volume", what: `${what}: ${name}`, value, unit });
    add("CPU for 1,000 messages", (1_000 * cpuMs) / count, "ms");
    add("read units for 1,000 messages", (1_000 * units) / count, "units");
  };
  await measure("closing a day", async () => {
    const day = messagesOfDay(dayShardOf(organizationId, dayOf(at.toISOString())));
    while ((await recount(day)) === "unfinished");
  });
  await measure("closing the books", async () => {
    const found = await readWallet(organizationId);
    const period = { start: at.toISOString(), end: new Date().toISOString() };
    const run = { continued: undefined, isTimeLeft: () => true };
    const sum = await sumOfLedger(found, period, undefined, new Set(), run);
    if (!("all" in sum) || sum.all.movements["message"] !== paid.balanceMicros)
      throw new Error("wrong books");
  });
  await gateway.stop();
  await rm(dataFolder, { recursive: true });
  return figures;
};

/** A sent message and its ledger entry. */
function messageAndEntry(organizationId: string, seq: number, queuedAt: Date) {
  const request = { to: "15005550000", message: "hello", senderId: "ADASHOP", language: "English" } as const;
  const record = {
    ...newMessage({ organizationId, ...oneShard }, request, { queuedAt, prices: onePrice }),
    id: derivedId("msg", queuedAt, String(seq)),
    status: "sent",
    attempts: 1,
    sentAt: queuedAt.toISOString(),
  } as const;
  const entry = ledgerEntry({
    ...ledgerKey({ organizationId, ...oneShard }, seq),
    entity: "ledgerEntry",
    id: newId("txn"),
    organizationId,
    type: "message",
    seq,
    amountMicros: -priceMicros,
    balanceAfterMicros: -seq * priceMicros,
    messageId: record.id,
    country: "US",
    segments: 1,
    createdAt: queuedAt.toISOString(),
  });
  return [putOf(messageKey(record), record), entry];
}
