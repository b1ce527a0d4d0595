import * as z from "zod/mini";

import type { AwsCommand } from "../../shared/platform/aws/command.ts";
import { client } from "../../shared/platform/table/client.ts";

const Units = z.object({ CapacityUnits: z._default(z.number(), 0) });
const Consuming = z.object({ ConsumedCapacity: z.optional(z.union([Units, z.array(Units)])) });

/**
 * Counts the read units of the table's client while a command works. Functions do not count theirs.
 * @param work receives a function that returns the units so far
 */
export async function countingReadUnits<Result>(
  work: (readUnits: () => number) => Promise<Result>,
): Promise<Result> {
  const send = client.send.bind(client);
  let units = 0;
  client.send = async <Output extends object>(command: AwsCommand<object, Output>): Promise<Output> => {
    Object.assign(command.input, { ReturnConsumedCapacity: "TOTAL" });
    const output = await send(command);
    const { ConsumedCapacity = [] } = Consuming.parse(output);
    for (const { CapacityUnits } of [ConsumedCapacity].flat()) units += CapacityUnits;
    return output;
  };
  try {
    return await work(() => units);
  } finally {
    client.send = send;
  }
}
