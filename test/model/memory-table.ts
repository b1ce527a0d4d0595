import { marshall } from "@aws-sdk/util-dynamodb";

import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "../../shared/platform/aws/dynamodb.ts";
import { AwsError } from "../../shared/platform/aws/errors.ts";
import { pendingWorkIndex } from "../../shared/platform/table/pending-work-index.ts";
import { fromStored } from "../../shared/platform/table/stored-names.ts";
import { fulfils, updated, type Item } from "./expressions.ts";

interface Write {
  readonly Key?: Item | undefined;
  readonly Item?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

/** A DynamoDB table in memory. Each command is carried out immediately and atomically, as in DynamoDB. */
export class MemoryTable {
  readonly #items = new Map<string, Item>();
  /** The ids of all items, past and present, in each partition of the table or its index. */
  readonly #partitions = new Map<string, Set<string>>();
  /** The items before their last change: an eventually consistent read may still return them. */
  readonly #olderItems = new Map<string, Item | undefined>();
  readonly #tokens = new Set<string>();

  /** Returns all items, with the names that the code has for their fields. */
  all(): Item[] {
    return [...this.#items.values()].map(fromStored);
  }

  /** Deletes the expired items, as DynamoDB does some time after they expire. */
  expire(atSeconds: number): void {
    for (const [id, { expiresAt }] of this.#items) {
      if (typeof expiresAt === "number" && expiresAt < atSeconds) this.#items.delete(id);
    }
  }

  /** @param isOld whether a read returns the state before the last changes */
  carryOut(command: object, isOld = false): unknown {
    if (command instanceof GetCommand) {
      const { Key = {} } = command.input;
      return { Item: isOld ? this.#findOlder(Key) : this.#find(Key) };
    }
    if (command instanceof QueryCommand) {
      return this.#query(command, isOld);
    }
    if (command instanceof TransactWriteCommand) return this.#transact(command);
    if (
      command instanceof PutCommand ||
      command instanceof DeleteCommand ||
      command instanceof UpdateCommand
    ) {
      const write: Write = command.input;
      if (!this.#isAllowed(write)) {
        const item = this.#find(keyOf(write));
        throw new AwsError({
          name: "ConditionalCheckFailedException",
          message: "The conditional request failed",
          ...(item === undefined ? {} : { Item: marshall(item, { removeUndefinedValues: true }) }),
        });
      }
      return { Attributes: this.#apply(write, command instanceof DeleteCommand) };
    }
    throw new Error(`the table does not know ${command.constructor.name}`);
  }

  #transact({ input }: TransactWriteCommand): unknown {
    const token = input.ClientRequestToken ?? "";
    if (this.#tokens.has(token)) return {};
    const writes = (input.TransactItems ?? []).map((each) => ({
      write: { ...each.Put, ...each.Update, ...each.Delete } satisfies Write,
      isDelete: each.Delete !== undefined,
    }));
    const allowed = writes.map(({ write }) => this.#isAllowed(write));
    if (allowed.includes(false)) {
      throw new AwsError({
        name: "TransactionCanceledException",
        message: "Transaction cancelled",
        CancellationReasons: writes.map(({ write }, index) => {
          if (allowed[index] === true) return { Code: "None" };
          const item = this.#find(keyOf(write));
          return {
            Code: "ConditionalCheckFailed",
            ...(item === undefined ? {} : { Item: marshall(item, { removeUndefinedValues: true }) }),
          };
        }),
      });
    }
    for (const { write, isDelete } of writes) this.#apply(write, isDelete);
    this.#tokens.add(token);
    return {};
  }

  #query({ input }: QueryCommand, isOld: boolean): unknown {
    const { partitionKey, sortKey } =
      input.IndexName === pendingWorkIndex.name ? pendingWorkIndex : { partitionKey: "pk", sortKey: "sk" };
    const values = input.ExpressionAttributeValues ?? {};
    const [pk, from, to] = [String(values[":pk"]), String(values[":from"]), String(values[":to"])];
    const after = input.ExclusiveStartKey === undefined ? "" : String(input.ExclusiveStartKey[sortKey]);
    const found = this.#itemsOf(`${partitionKey} ${pk}`, isOld)
      .filter((item) => item[partitionKey] === pk && typeof item[sortKey] === "string")
      .filter((item) => {
        const sk = String(item[sortKey]);
        return sk >= from && sk <= to && sk > after;
      })
      .toSorted((a, b) => (String(a[sortKey]) < String(b[sortKey]) ? -1 : 1));
    const Items = found.slice(0, input.Limit);
    const last = Items.at(-1);
    return {
      Items,
      ...(Items.length < found.length && last !== undefined ? { LastEvaluatedKey: last } : {}),
    };
  }

  #findOlder(key: Item): Item | undefined {
    const id = idOf(key);
    return this.#olderItems.has(id) ? this.#olderItems.get(id) : this.#find(key);
  }

  #itemsOf(partition: string, isOld: boolean): Item[] {
    const ids = this.#partitions.get(partition) ?? [];
    return [...ids].flatMap<Item>(
      (id) => (isOld && this.#olderItems.has(id) ? this.#olderItems.get(id) : this.#items.get(id)) ?? [],
    );
  }

  #isAllowed(write: Write): boolean {
    return fulfils(write.ConditionExpression, {
      item: this.#find(keyOf(write)),
      names: write.ExpressionAttributeNames ?? {},
      values: write.ExpressionAttributeValues ?? {},
    });
  }

  #apply(write: Write, isDelete: boolean): Item | undefined {
    const key = keyOf(write);
    this.#olderItems.set(idOf(key), this.#find(key));
    if (isDelete) {
      this.#items.delete(idOf(key));
      return undefined;
    }
    const after =
      write.Item ??
      updated(write.UpdateExpression ?? "", {
        item: { ...key, ...this.#find(key) },
        names: write.ExpressionAttributeNames ?? {},
        values: write.ExpressionAttributeValues ?? {},
      });
    const stored = Object.fromEntries(Object.entries(after).filter(([, value]) => value !== undefined));
    this.#items.set(idOf(key), stored);
    for (const { partitionKey } of [{ partitionKey: "pk" }, pendingWorkIndex]) {
      if (stored[partitionKey] !== undefined) this.#partition(partitionKey, stored).add(idOf(key));
    }
    return stored;
  }

  #partition(partitionKey: string, item: Item): Set<string> {
    const name = `${partitionKey} ${String(item[partitionKey])}`;
    const ids = this.#partitions.get(name) ?? new Set();
    this.#partitions.set(name, ids);
    return ids;
  }

  #find(key: Item): Item | undefined {
    const item = this.#items.get(idOf(key));
    return item === undefined ? undefined : { ...item };
  }
}

function keyOf({ Key, Item: item }: Write): Item {
  return Key ?? { pk: item?.["pk"], sk: item?.["sk"] };
}

function idOf(key: Item): string {
  return `${String(key["pk"])}|${String(key["sk"])}`;
}
