import { WalletRecord } from "../../shared/money/wallet/record.ts";
import { TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { MemoryTable } from "./memory-table.ts";
import { itemsOf } from "./records.ts";

/** A table that checks after each request what may not be the case even for a moment. */
export class CheckedTable {
  readonly table = new MemoryTable();
  /** How often each debit was applied, by the id of its ledger entry. */
  readonly debits = new Map<string, number>();
  /** The last violation. */
  failure: Error | undefined;
  /** The sum of all debits of a day, in micro-units. */
  readonly #spentMicros = new Map<string, number>();
  /** The ledger entries of returned debits. */
  readonly #returned = new Set<unknown>();

  /** Checks the table after a request. */
  note(command: object): void {
    const debitEntryId = debitEntryIdOf(command);
    if (debitEntryId !== undefined) {
      this.debits.set(debitEntryId, (this.debits.get(debitEntryId) ?? 0) + 1);
      this.#checkSpending(command);
    }
    this.#noteReturned(command);
    this.#checkBalance();
  }

  #checkBalance(): void {
    if (itemsOf(this.table, "wallet").some(({ balanceMicros }) => Number(balanceMicros) < 0))
      this.failure = new Error("the balance is negative");
  }

  /** Notes a returned debit, which its day no longer counts as spent. The same command may come twice. */
  #noteReturned(command: object): void {
    if (!(command instanceof TransactWriteCommand)) return;
    for (const { Update } of command.input.TransactItems ?? []) {
      const { UpdateExpression = "", ExpressionAttributeValues: values = {} } = Update ?? {};
      const [, placeholder] = /ADD .*#spentTodayMicros (:\w+)/.exec(UpdateExpression) ?? [];
      const { ":lastId": id, ":spendDay": day } = values;
      if (placeholder === undefined || this.#returned.has(id)) continue;
      this.#returned.add(id);
      this.#spentMicros.set(day, (this.#spentMicros.get(day) ?? 0) + Number(values[placeholder]));
    }
  }

  /** Checks at each debit that the day's spending is within the cap, and equals that of the wallet. */
  #checkSpending(debit: object): void {
    const wallet = itemsOf(this.table, "wallet")[0];
    const { spendDay, spentTodayMicros, operatorDailyCap } = WalletRecord.parse(wallet);
    const spentMicros = (this.#spentMicros.get(spendDay) ?? 0) + amountOfDebit(debit);
    this.#spentMicros.set(spendDay, spentMicros);
    if (spentMicros !== spentTodayMicros) this.failure = new Error("the wallet does not know what was spent");
    if (typeof operatorDailyCap === "number" && spentMicros > operatorDailyCap) {
      this.failure = new Error("more was spent in a day than its cap");
    }
  }
}

/** The id of the ledger entry of a debit, or undefined for another command. */
export function debitEntryIdOf(command: object): string | undefined {
  if (!(command instanceof UpdateCommand)) return undefined;
  const lastId: unknown = command.input.ExpressionAttributeValues?.[":lastId"];
  return typeof lastId === "string" ? lastId : undefined;
}

function amountOfDebit(command: object): number {
  if (!(command instanceof UpdateCommand)) return Number.NaN;
  const { UpdateExpression = "", ExpressionAttributeValues: values = {} } = command.input;
  const [, placeholder = ""] = /ADD .*#balanceMicros (:\w+)/.exec(UpdateExpression) ?? [];
  return -Number(values[placeholder]);
}
