/*
 * Lambda's recursive loop detection. A call that comes from a queue carries its lineage: how often each function has run
 * in the chain of calls that led to it. The AWS SDK hands it on with each request of the call, in the header
 * X-Amzn-Trace-Id. https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */

/** The header, as Node names it. */
export const traceHeader = "x-amzn-trace-id";

/**
 * What carries the header with a message. SQS has a system attribute for it, AWSTraceHeader, which the embedded one does
 * not keep; here it travels among the message's own attributes, under the same name.
 */
export const traceAttribute = "AWSTraceHeader";

/** How often a function may run in one chain of calls, unless its `RecursiveLoop` is `Allow`. */
export const maxRunsInChain = 16;

/** How often each function has run in a chain of calls, by its name. */
export type Lineage = ReadonlyMap<string, number>;

/** The lineage that a header tells of; that of a new chain where there is no header. */
export function parseLineage(header = ""): Lineage {
  return new Map([...header.matchAll(/(\w+):(\d+)/g)].map(([, name = "", count]) => [name, Number(count)]));
}

/** The header that tells of a lineage. */
export function lineageHeader(lineage: Lineage): string {
  return `Lineage=${[...lineage].map(([name, count]) => `${name}:${count}`).join("|")}`;
}

/** The lineage of a run on messages of several chains: of each function the longest. */
export function withRun(functionName: string, chains: readonly Lineage[]): Lineage {
  const longest = new Map<string, number>();
  for (const [name, count] of chains.flatMap((chain) => [...chain])) {
    longest.set(name, Math.max(count, longest.get(name) ?? 0));
  }
  return longest.set(functionName, (longest.get(functionName) ?? 0) + 1);
}
