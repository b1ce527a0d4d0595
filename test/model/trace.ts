import { createHash } from "node:crypto";

/** Receives the events of a model, in order and in words. */
export type Observe = (event: string) => void;

/** Computes one short text from all events of a run, which changes when any event does. */
export async function digestOf(run: (observe: Observe) => Promise<unknown>): Promise<string> {
  const hash = createHash("sha256");
  await run((event) => void hash.update(`${event}\n`));
  return hash.digest("hex");
}

/** Describes a request, without the table's name, which differs in each run. */
export function describe(command: object): string {
  const input = JSON.stringify(Object(command).input, (name, value: unknown) =>
    name === "TableName" ? undefined : value,
  );
  return `${command.constructor.name} ${input}`;
}
