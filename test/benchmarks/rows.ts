import path from "node:path";

import { marshall } from "@aws-sdk/util-dynamodb";

import { Database } from "../../infra/local/store/database.ts";
import { Tables } from "../../infra/local/store/tables.ts";
import type { StackDefinition } from "../../infra/local/template.ts";
import { allScopes } from "../../shared/api/contract/scopes.ts";
import { ledgerEntry } from "../../shared/money/wallet/ledger.ts";
import { newWallet } from "../../shared/money/wallet/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { ledgerKey, oneShard } from "../../shared/platform/table/shards.ts";
import { type Put, putOf } from "../../shared/platform/table/write.ts";
import { newApiKey } from "../../shared/tenancy/api-keys/record.ts";
import type { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { insertRights } from "../../shared/tenancy/organizations/rights-record.ts";

/*
 * Rows that are written directly into a gateway's table, in the form of the project's own records. A million
 * messages would take days otherwise.
 */

/** Fills the file of a table before its gateway starts, many times as fast as by requests. */
export class TableFile {
  readonly #name: string;
  readonly #database: Database;
  readonly #tables: Tables;

  /** @param dataFolder the gateway's */
  constructor({ name, ...properties }: StackDefinition["table"], dataFolder: string) {
    this.#name = name;
    this.#database = new Database(path.join(dataFolder, "aws.sqlite"));
    this.#tables = new Tables(this.#database);
    this.#tables.execute("CreateTable", { TableName: name, ...properties, BillingMode: "PAY_PER_REQUEST" });
  }

  /** Writes items, all in one commit. */
  write(puts: readonly Put[]): void {
    for (const { put } of puts) {
      const Item = marshall(put, { removeUndefinedValues: true });
      this.#tables.execute("PutItem", { TableName: this.#name, Item });
    }
    this.#database.commit();
  }

  close(): void {
    this.#database.close();
  }
}

/** The rows of an organization besides its wallet, and how many messages its wallet has paid for. */
interface OrganizationSize {
  readonly contactCount: number;
  readonly campaignCount: number;
  readonly messageCount: number;
}

/** An organization that has money and an API key, and no user. */
export function organizationPuts(
  balanceMicros: number,
  { messageCount, ...counts }: OrganizationSize,
): { readonly organizationId: string; readonly secret: string; readonly puts: readonly Put[] } {
  const organizationId = newId("org");
  const userId = newId("usr");
  const createdAt = new Date();
  const organization: OrganizationRecord = {
    entity: "organization",
    id: organizationId,
    name: "Benchmark",
    createdAt: createdAt.toISOString(),
    apiKeyCount: 1,
    ...counts,
    furtherMemberCount: 0,
    senderIdCount: 0,
    templateCount: 0,
    webhookCount: 0,
  };
  const actor = {
    organizationId,
    userId,
    credential: { type: "session", sessionId: newId("ses") },
    scopes: allScopes,
  } as const;
  const { secret, writes } = newApiKey(actor, undefined, { name: "benchmark" });
  const [wallet, listing] = newWallet(organizationId, createdAt);
  const id = newId("txn");
  const topUp = ledgerEntry({
    ...ledgerKey({ organizationId, ...oneShard }, 1),
    entity: "ledgerEntry",
    id,
    organizationId,
    type: "top_up",
    seq: 1,
    amountMicros: balanceMicros,
    balanceAfterMicros: balanceMicros,
    createdAt: createdAt.toISOString(),
  });
  const paid = { ...wallet.put, balanceMicros, seq: 1, settledSeq: 1, lastId: id, messageCount };
  return {
    organizationId,
    secret,
    puts: [
      putOf(keys.organization(organizationId), organization),
      insertRights(organizationId, userId),
      ...writes.filter((write) => "put" in write),
      putOf(keys.wallet(organizationId), paid),
      listing,
      topUp,
    ],
  };
}
