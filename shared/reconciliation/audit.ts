import { MessageRecord } from "../messages/message.ts";
import { keys } from "../platform/keys.ts";
import { readItem } from "../platform/table.ts";
import { readLedger, type LedgerEntryRecord } from "../wallet/ledger.ts";
import { readWallet } from "../wallet/wallet.ts";

export interface Audit {
  readonly organizationId: string;
  readonly balanceMicros: number;
  readonly entries: number;
  /** What is wrong, in words; a wallet in order has none. */
  readonly findings: readonly string[];
}

/** Entries that are read at once. */
const batchSize = 500;

/** A wallet that is wrong in thousands of places is reported with the first ones. */
const maxFindings = 100;

/**
 * Walks the whole ledger of a wallet and proves that every seq has its entry, that each balance follows from
 * the one before, that the last is the wallet's, and that every paid message exists at that price.
 * @throws ApiError WALLET_MISSING
 */
export async function auditWallet(organizationId: string): Promise<Audit> {
  const wallet = await readWallet(organizationId);
  const findings: string[] = [];
  let seq = 0;
  let balanceMicros = 0;
  let entries = 0;
  for (;;) {
    const batch = await readLedger(organizationId, { from: seq + 1, to: wallet.seq, limit: batchSize });
    for (const entry of batch) {
      if (entry.seq !== seq + 1) findings.push(`seq ${seq + 1} to ${entry.seq - 1} have no entry`);
      balanceMicros += entry.amountMicros;
      if (entry.seq === seq + 1 && entry.balanceAfterMicros !== balanceMicros) {
        findings.push(
          `seq ${entry.seq} says ${entry.balanceAfterMicros}, the entries add up to ${balanceMicros}`,
        );
      }
      balanceMicros = entry.balanceAfterMicros;
      seq = entry.seq;
      entries += 1;
      const problem = await problemOfMessage(entry);
      if (problem !== undefined) findings.push(problem);
    }
    if (batch.length < batchSize || findings.length > maxFindings) break;
  }
  if (seq !== wallet.seq) findings.push(`seq ${seq + 1} to ${wallet.seq} have no entry`);
  else if (balanceMicros !== wallet.balanceMicros) {
    findings.push(`the wallet says ${wallet.balanceMicros}, its entries add up to ${balanceMicros}`);
  }
  return {
    organizationId,
    balanceMicros: wallet.balanceMicros,
    entries,
    findings: findings.slice(0, maxFindings),
  };
}

async function problemOfMessage(entry: LedgerEntryRecord): Promise<string | undefined> {
  const { messageId, seq, type } = entry;
  if (messageId === undefined) return type === "message" ? `seq ${seq} names no message` : undefined;
  const message = await readItem(MessageRecord, keys.message(entry.organizationId, messageId), {
    consistent: true,
  });
  if (message === undefined) return `seq ${seq} pays for ${messageId}, which does not exist`;
  if (message.totalMicros !== Math.abs(entry.amountMicros)) {
    return `seq ${seq} moves ${entry.amountMicros} for ${messageId}, which cost ${message.totalMicros}`;
  }
  if (type === "refund" && message.refund !== "done")
    return `seq ${seq} refunds ${messageId}, which does not know`;
  if (type === "message" && message.refund === "due") return `${messageId} failed and is not refunded yet`;
  return undefined;
}
