/*
 * Lambda's recursive loop detection. A call from a queue carries its lineage: how often each function has run in the
 * chain of calls that led to it. The AWS SDK passes it on with each request of the call, in the header X-Amzn-Trace-Id.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */

/** The header, as Node names it. */
export const traceHeader = "x-amzn-trace-id";

/**
 * The attribute of a message that carries the header. In SQS, AWSTraceHeader is a system attribute; the local store keeps
 * it among the message's own attributes.
 */
export const traceAttribute = "AWSTraceHeader";

/** How often a function may run in one chain of calls, unless its `RecursiveLoop` is `Allow`. */
export const maxRunsInChain = 16;

/** How often each function has run in a chain of calls, by its name. */
export type Lineage = ReadonlyMap<string, number>;

/** Parses the lineage in a header; without a header, that of a new chain. */
export function parseLineage(header = ""): Lineage {
  return new Map([...header.matchAll(/(\w+):(\d+)/g)].map(([, name = "", count]) => [name, Number(count)]));
}

/** Returns the header for a lineage. */
export function lineageHeader(lineage: Lineage): string {
  return `Lineage=${[...lineage].map(([name, count]) => `${name}:${count}`).join("|")}`;
}

/** Returns the lineage of a run on messages of several chains: the highest count of each function. */
export function withRun(functionName: string, chains: readonly Lineage[]): Lineage {
  const longest = new Map<string, number>();
  for (const [name, count] of chains.flatMap((chain) => [...chain])) {
    longest.set(name, Math.max(count, longest.get(name) ?? 0));
  }
  return longest.set(functionName, (longest.get(functionName) ?? 0) + 1);
}
