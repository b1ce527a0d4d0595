import { AsyncLocalStorage } from "node:async_hooks";

import * as z from "zod/mini";

import type { AwsCommand } from "../../shared/platform/aws/command.ts";
import { client } from "../../shared/platform/table/client.ts";

const Units = z.object({ CapacityUnits: z._default(z.number(), 0) });
const Consuming = z.object({ ConsumedCapacity: z.optional(z.union([Units, z.array(Units)])) });

const counting = new AsyncLocalStorage<{ units: number }>();

const send = client.send.bind(client);
client.send = async <Output extends object>(command: AwsCommand<object, Output>): Promise<Output> => {
  const count = counting.getStore();
  if (count === undefined) return send(command);
  Object.assign(command.input, { ReturnConsumedCapacity: "TOTAL" });
  const output = await send(command);
  const { ConsumedCapacity = [] } = Consuming.parse(output);
  for (const { CapacityUnits } of [ConsumedCapacity].flat()) count.units += CapacityUnits;
  return output;
};

/**
 * Counts the read units that a command's work takes. Functions do not count theirs.
 * @param work receives a function that returns the units so far
 */
export async function countingReadUnits<Result>(
  work: (readUnits: () => number) => Promise<Result>,
): Promise<Result> {
  const count = { units: 0 };
  return counting.run(count, async () => work(() => count.units));
}
