/**
 * The stored names of fields for which the code has other words, because older items have them. Only the table layer knows
 * them: it changes the names of each item that it reads or writes. No other field may have one of these names.
 */
const storedNames: Readonly<Record<string, string>> = {
  /** The kind of work that an item waits for, and its shard. */
  pendingWork: "agenda",
  /** When that work visits the item, in ISO 8601. */
  visitAt: "lookAt",
  /** How many attempts of a message have no known outcome. */
  unresolvedAttempts: "openClaims",
  /** How many messages a wallet may still pay for in its current second, and when that second began, in ISO 8601. */
  sendsLeft: "paceLeft",
  secondSince: "paceSince",
};
const toTable = Object.entries(storedNames);
const toCode = toTable.map(([name, stored]) => [stored, name] as const);

export function storedNameOf(name: string): string {
  return storedNames[name] ?? name;
}

/** Returns an item with its stored names. */
export function toStored(item: object): Record<string, unknown> {
  return renamed(item, toTable);
}

/** Returns a stored item with the names of the code. */
export function fromStored(item: object): Record<string, unknown> {
  return renamed(item, toCode);
}

/** Runs for each item that is read or written, so it touches only the renamed fields. */
function renamed(
  item: object,
  names: readonly (readonly [from: string, to: string])[],
): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...item };
  for (const [from, to] of names) {
    if (copy[from] === undefined) continue;
    copy[to] = copy[from];
    Reflect.deleteProperty(copy, from);
  }
  return copy;
}
