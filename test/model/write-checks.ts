import { BillingRecord } from "../../shared/money/payments/billing-record.ts";
import { PaymentRecord } from "../../shared/money/payments/record.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { WalletRecord } from "../../shared/money/wallet/record.ts";
import type { TransactWriteCommand } from "../../shared/platform/aws/dynamodb.ts";
import type { Item, MemoryTable } from "./memory-table.ts";
import { recordsOf } from "./records.ts";

/** The checks at each write: what may not be the case even for a moment. */
export class WriteChecks {
  readonly problems: string[] = [];
  /** How often each email became owed, by its id. */
  readonly owed = new Map<string, number>();
  readonly #table: MemoryTable;
  readonly #tokens = new Set<string>();

  constructor(table: MemoryTable) {
    this.#table = table;
  }

  /** Whether a transaction was not applied before: DynamoDB applies one with the same token once. */
  isNew({ input: { ClientRequestToken = "" } }: TransactWriteCommand): boolean {
    return !this.#tokens.has(ClientRequestToken);
  }

  /** Checks the state after a write. */
  note(command: object): void {
    const { ClientRequestToken, TransactItems = [] } = Object(command).input;
    if (typeof ClientRequestToken !== "string") return this.#noteDebit(command);
    this.#tokens.add(ClientRequestToken);
    const items: Item[] = TransactItems.flatMap(({ Put }: { Put?: { Item?: Item } }) => Put?.Item ?? []);
    for (const item of items) {
      if (item["entity"] === "dueJob" && item["queue"] === "emails") {
        const id = String(Object(item["body"]).id);
        this.owed.set(id, (this.owed.get(id) ?? 0) + 1);
        // The notice of a cap is one email of its month, however often the customer changes the cap.
        if (this.owed.get(id) !== 1 && !id.includes("-cap-"))
          this.problems.push(`the email ${id} is owed twice`);
      }
      if (item["entity"] === "ledgerEntry") this.#noteEntry(LedgerEntryRecord.parse(item));
      if (item["entity"] === "payment" && item["origin"] === "auto_recharge")
        this.#noteRecharge(PaymentRecord.parse(item));
    }
  }

  #noteDebit(command: object): void {
    const key = String(Object(command).input?.Key?.pk);
    const lastId = Object(command).input?.ExpressionAttributeValues?.[":lastId"];
    if (!key.startsWith("WALLET#") || lastId === undefined) return;
    const wallet = recordsOf(this.#table, WalletRecord, "wallet").find((each) => each.lastId === lastId);
    if ((wallet?.balanceMicros ?? 0) < 0) this.problems.push("a send made the balance negative");
  }

  /** Only a chargeback may take more than there is. */
  #noteEntry({ type, amountMicros, balanceAfterMicros, reference = "" }: LedgerEntryRecord): void {
    if (balanceAfterMicros < 0 && amountMicros < 0 && type !== "chargeback" && type !== "message")
      this.problems.push(`${reference} made the balance negative as ${type}`);
  }

  /** A recharge begins after the end of the last one, and within the cap of its month. */
  #noteRecharge({ id, organizationId, amountMicros, createdAt }: PaymentRecord): void {
    const month = createdAt.slice(0, "yyyy-mm".length);
    const others = rechargesOf(this.#table, organizationId).filter((each) => each.id !== id);
    if (others.some(({ status }) => status === "pending"))
      this.problems.push(`the recharge ${id} began beside another: one crossing is charged twice`);
    const sumMicros = others
      .filter((each) => each.status === "succeeded" && each.createdAt.startsWith(month))
      .reduce((sum, each) => sum + each.amountMicros, amountMicros);
    const billing = recordsOf(this.#table, BillingRecord, "billing").find(
      (each) => each.organizationId === organizationId,
    );
    if (sumMicros > (billing?.autoRecharge?.monthlyCapMicros ?? 0))
      this.problems.push(`recharges of ${month} are ${sumMicros}, above the cap`);
  }
}

/** The recharges of an organization. */
export function rechargesOf(table: MemoryTable, organizationId: string): PaymentRecord[] {
  return recordsOf(table, PaymentRecord, "payment").filter(
    (each) => each.organizationId === organizationId && each.origin === "auto_recharge",
  );
}

/** Whether a recharge is in progress, or the fee of one is not known yet. */
export function isRecharging(table: MemoryTable): boolean {
  return (
    recordsOf(table, WalletRecord, "wallet").some(({ rechargeId }) => rechargeId !== undefined) ||
    recordsOf(table, PaymentRecord, "payment").some(
      ({ origin, status, feeAt }) =>
        origin === "auto_recharge" && status === "succeeded" && feeAt === undefined,
    )
  );
}
