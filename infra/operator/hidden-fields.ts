import { AsyncLocalStorage } from "node:async_hooks";

import { partlyReadable, readableAttributes } from "@sms-gateway/stack/operator-roles.ts";

import type { AwsCommand } from "../../shared/platform/aws/command.ts";
import { client } from "../../shared/platform/table/client.ts";

/*
 * The policies of most roles allow only some attributes of messages and API keys. The commands for these roles read no others.
 */

const names = Object.fromEntries(readableAttributes.map((name, index) => [`#f${index}`, name]));
/** The hidden fields that every item has. */
const empty = { message: "", secretHash: "" };

/** Whether the running command is such a one. Others of the process may run at the same time, or within it: the desk's. */
const restricted = new AsyncLocalStorage<boolean>();

const send = client.send.bind(client);
client.send = async <Output extends object>(command: AwsCommand<object, Output>): Promise<Output> => {
  const isPartly = restricted.getStore() === true && project(command);
  const output = await send(command);
  if (isPartly) for (const item of itemsIn(output)) Object.assign(item, { ...empty, ...item });
  return output;
};

/** Runs a command. If it hides these fields, it reads neither texts of messages nor hashes of API keys: they are empty for it. */
export async function hidingFields<Result>(isHiding: boolean, work: () => Promise<Result>): Promise<Result> {
  return restricted.run(isHiding, work);
}

/** Adds the attributes to a read of these families. @returns whether it is one */
function project({ operation, input }: AwsCommand): boolean {
  const request: Record<string, unknown> =
    operation === "BatchGetItem" ? Object(Object.values(Object(Object(input)["RequestItems"]))[0]) : input;
  const pk = {
    BatchGetItem: Object(Object(request["Keys"])[0])["pk"],
    GetItem: Object(request["Key"])["pk"],
    Query: Object(request["ExpressionAttributeValues"])[":pk"],
  }[operation];
  if (!partlyReadable.some((family) => String(pk).startsWith(`${family}#`))) return false;
  if (operation === "Query") request["Select"] ??= "SPECIFIC_ATTRIBUTES";
  if (request["ProjectionExpression"] !== undefined || request["Select"] === "COUNT") return true;
  request["ProjectionExpression"] = Object.keys(names).join(", ");
  request["ExpressionAttributeNames"] = { ...Object(request["ExpressionAttributeNames"]), ...names };
  return true;
}

function itemsIn(output: object): object[] {
  const { Item, Items = [], Responses = {} } = Object(output);
  return [Item ?? [], Items, Object.values(Responses).flat()].flat();
}
