import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

import { quantile } from "./figures.ts";

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The bodies of the responses, in the order of their arrival. */
  readonly bodies: readonly string[];
}

/**
 * Makes calls over a number of connections. Each makes its next call after the response to the last one, until the time
 * or the number of calls is reached. Node's own client is enough here.
 * @throws Error with the first unexpected response
 */
export async function load(
  nextCall: () => HttpCall,
  { connections, durationMs, calls = Infinity }: { connections: number; durationMs: number; calls?: number },
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const tookMs: number[] = [];
  const bodies: string[] = [];
  const startedAt = performance.now();
  let begun = 0;
  const callUntilOver = async (): Promise<void> => {
    while (performance.now() - startedAt < durationMs && begun < calls) {
      begun += 1;
      const calledAt = performance.now();
      bodies.push(await send(nextCall(), agent));
      tookMs.push(performance.now() - calledAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, callUntilOver));
  const elapsedMs = performance.now() - startedAt;
  agent.destroy();
  const sorted = tookMs.toSorted((one, other) => one - other);
  return {
    perSecond: (tookMs.length / elapsedMs) * 1_000,
    medianMs: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    bodies,
  };
}

async function send({ method, url, headers = {}, body }: HttpCall, agent: Agent): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers, agent }, resolve).on("error", reject).end(body);
  });
  const answer = await text(response);
  const { statusCode = 0 } = response;
  if (statusCode >= 300) throw new Error(`${method} ${url} returned ${statusCode}: ${answer}`);
  return answer;
}
