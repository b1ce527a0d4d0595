import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";

import { fulfils, updated, type Item } from "./expressions.ts";

interface Write {
  readonly Key?: Item | undefined;
  readonly Item?: Item | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

/** A DynamoDB table in memory: each command is carried out at once and whole, as DynamoDB does it. */
export class MemoryTable {
  readonly #items = new Map<string, Item>();
  readonly #tokens = new Set<string>();

  all(): Item[] {
    return [...this.#items.values()];
  }

  carryOut(command: object): unknown {
    if (command instanceof GetCommand) return { Item: this.#find(command.input.Key ?? {}) };
    if (command instanceof QueryCommand) return this.#query(command);
    if (command instanceof TransactWriteCommand) return this.#transact(command);
    if (
      command instanceof PutCommand ||
      command instanceof DeleteCommand ||
      command instanceof UpdateCommand
    ) {
      const write: Write = command.input;
      if (!this.#isAllowed(write)) {
        const item = this.#find(keyOf(write));
        throw new ConditionalCheckFailedException({
          message: "The conditional request failed",
          $metadata: {},
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
      throw new TransactionCanceledException({
        message: "Transaction cancelled",
        $metadata: {},
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

  #query({ input }: QueryCommand): unknown {
    const values = input.ExpressionAttributeValues ?? {};
    const [pk, from, to] = [String(values[":pk"]), String(values[":from"]), String(values[":to"])];
    const after = input.ExclusiveStartKey === undefined ? "" : String(input.ExclusiveStartKey["sk"]);
    const found = this.all()
      .filter((item) => item["pk"] === pk)
      .filter((item) => String(item["sk"]) >= from && String(item["sk"]) <= to && String(item["sk"]) > after)
      .toSorted((a, b) => (String(a["sk"]) < String(b["sk"]) ? -1 : 1));
    const Items = found.slice(0, input.Limit);
    return {
      Items,
      ...(Items.length < found.length ? { LastEvaluatedKey: { pk, sk: Items.at(-1)?.["sk"] } } : {}),
    };
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
    return stored;
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
