import { createHash } from "node:crypto";

/** Receives the events of a model, in order and in words. */
export type Observe = (event: string) => void;

/** Computes one short text from all events, which changes when any event does. */
export function digestOf(): { readonly observe: Observe; readonly read: () => string } {
  const hash = createHash("sha256");
  return { observe: (event) => void hash.update(`${event}\n`), read: () => hash.digest("hex") };
}

/** Describes a request, without the table's name, which differs in each run. */
export function describe(command: object): string {
  const input = JSON.stringify(Object(command).input, (name, value: unknown) =>
    name === "TableName" ? undefined : value,
  );
  return `${command.constructor.name} ${input}`;
}
