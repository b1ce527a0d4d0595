import { createHash } from "node:crypto";

/** Is told each thing that happens in a model, in order and in words. */
export type Observe = (event: string) => void;

/** Makes one short text of all events, which differs where any of them does. */
export function digestOf(): { readonly observe: Observe; readonly read: () => string } {
  const hash = createHash("sha256");
  return { observe: (event) => void hash.update(`${event}\n`), read: () => hash.digest("hex") };
}

/** A request, but for the table's name, which is another one in each run. */
export function describe(command: object): string {
  const input = JSON.stringify(Object(command).input, (name, value: unknown) =>
    name === "TableName" ? undefined : value,
  );
  return `${command.constructor.name} ${input}`;
}
