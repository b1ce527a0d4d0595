import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

import type { Item as Attributes } from "../../infra/local/store/attribute-values.ts";
import { applyUpdate } from "../../infra/local/store/expressions/apply-update.ts";
import { parseCondition } from "../../infra/local/store/expressions/conditions.ts";
import { conditionHolds } from "../../infra/local/store/expressions/evaluate-condition.ts";
import { resolvedPath, type Placeholders } from "../../infra/local/store/expressions/placeholders.ts";
import { parseUpdate } from "../../infra/local/store/expressions/updates.ts";
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

export type Item = Record<string, unknown>;

/** An item in DynamoDB's format, which expressions work on, and with plain values. */
interface Stored {
  readonly attributes: Attributes;
  readonly plain: Item;
}

interface Write {
  readonly Key?: Item | undefined;
  readonly Item?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

/**
 * A DynamoDB table in memory. Each command is carried out immediately and atomically, as in DynamoDB. It has the expressions of
 * the local store, but no files and threads. A model run makes hundreds of calls, and there are a hundred thousand runs. It
 * allows unused placeholders, because the tests remove conditions.
 */
export class MemoryTable {
  readonly #items = new Map<string, Stored>();
  /** The ids of all items, past and present, in each partition of the table or its index. */
  readonly #partitions = new Map<string, Set<string>>();
  /** The items before their last change: an eventually consistent read may still return them. */
  readonly #olderItems = new Map<string, Stored | undefined>();
  readonly #tokens = new Set<string>();

  /** Returns all items, with the names that the code has for their fields. */
  all(): Item[] {
    return [...this.#items.values()].map(({ plain }) => fromStored(plain));
  }

  /** Deletes the expired items, as DynamoDB does some time after they expire. */
  expire(atSeconds: number): void {
    for (const [id, { plain }] of this.#items) {
      const { expiresAt } = plain;
      if (typeof expiresAt === "number" && expiresAt < atSeconds) this.#items.delete(id);
    }
  }

  /** @param isOld whether a read returns the state before the last changes */
  carryOut(command: object, isOld = false): unknown {
    if (command instanceof GetCommand) {
      const { Key = {} } = command.input;
      const found = isOld ? this.#findOlder(Key) : this.#find(Key);
      return { Item: found && { ...found.plain } };
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
        throw new AwsError({
          name: "ConditionalCheckFailedException",
          message: "The conditional request failed",
          ...this.#itemOfFailure(write),
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
      write: { ...each.Put, ...each.Update, ...each.Delete, ...each.ConditionCheck } satisfies Write,
      isCheck: each.ConditionCheck !== undefined,
      isDelete: each.Delete !== undefined,
    }));
    const allowed = writes.map(({ write }) => this.#isAllowed(write));
    if (allowed.includes(false)) {
      throw new AwsError({
        name: "TransactionCanceledException",
        message: "Transaction cancelled",
        CancellationReasons: writes.map(({ write }, index) =>
          allowed[index] === true
            ? { Code: "None" }
            : { Code: "ConditionalCheckFailed", ...this.#itemOfFailure(write) },
        ),
      });
    }
    for (const { write, isCheck, isDelete } of writes) if (!isCheck) this.#apply(write, isDelete);
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

  #itemOfFailure(write: Write): { readonly Item?: Record<string, AttributeValue> } {
    const found = this.#find(keyOf(write));
    return found === undefined ? {} : { Item: Object(found.attributes) };
  }

  #findOlder(key: Item): Stored | undefined {
    const id = idOf(key);
    return this.#olderItems.has(id) ? this.#olderItems.get(id) : this.#find(key);
  }

  #itemsOf(partition: string, isOld: boolean): Item[] {
    const ids = this.#partitions.get(partition) ?? [];
    return [...ids].flatMap<Item>(
      (id) => (isOld && this.#olderItems.has(id) ? this.#olderItems : this.#items).get(id)?.plain ?? [],
    );
  }

  #isAllowed(write: Write): boolean {
    const { ConditionExpression: text } = write;
    if (text === undefined) return true;
    const { tree } = parseCondition("ConditionExpression", text);
    return conditionHolds(this.#find(keyOf(write))?.attributes ?? {}, tree, placeholdersOf(write));
  }

  #apply(write: Write, isDelete: boolean): Item | undefined {
    const key = keyOf(write);
    const before = this.#find(key);
    this.#olderItems.set(idOf(key), before);
    if (isDelete) {
      this.#items.delete(idOf(key));
      return undefined;
    }
    const attributes =
      write.Item === undefined
        ? updated(before?.attributes ?? attributesOf(key), write)
        : attributesOf(write.Item);
    const plain: Item = unmarshall(Object(attributes));
    this.#items.set(idOf(key), { attributes, plain });
    for (const { partitionKey } of [{ partitionKey: "pk" }, pendingWorkIndex]) {
      if (plain[partitionKey] !== undefined) this.#partition(partitionKey, plain).add(idOf(key));
    }
    return plain;
  }

  #partition(partitionKey: string, item: Item): Set<string> {
    const name = `${partitionKey} ${String(item[partitionKey])}`;
    const ids = this.#partitions.get(name) ?? new Set();
    this.#partitions.set(name, ids);
    return ids;
  }

  #find(key: Item): Stored | undefined {
    return this.#items.get(idOf(key));
  }
}

function updated(before: Attributes, write: Write): Attributes {
  const { UpdateExpression: text } = write;
  if (text === undefined) return before;
  const { tree } = parseUpdate("UpdateExpression", text);
  const placeholders = placeholdersOf(write);
  const paths = tree.map(({ path }) => resolvedPath(path, placeholders));
  return applyUpdate(before, tree, paths, placeholders);
}

function placeholdersOf(write: Write): Placeholders {
  return {
    names: write.ExpressionAttributeNames ?? {},
    values: attributesOf(write.ExpressionAttributeValues ?? {}),
  };
}

function attributesOf(item: Item): Attributes {
  return Object(marshall(item, { removeUndefinedValues: true }));
}

function keyOf({ Key, Item: item }: Write): Item {
  return Key ?? { pk: item?.["pk"], sk: item?.["sk"] };
}

function idOf(key: Item): string {
  return `${String(key["pk"])}|${String(key["sk"])}`;
}
