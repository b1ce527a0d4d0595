import recorded from "../contract/examples.json" with { type: "json" };
import type { Route } from "../routes/route.ts";

const dayMs = 24 * 60 * 60 * 1_000;

interface Example {
  readonly example?: unknown;
}

/** Returns the example of a response: recorded data in the envelope of all responses. */
export function responseExample(operation: string, route: Route): Example {
  const sameAs: Readonly<Record<string, string>> = recorded.sameAs;
  const data = dataOf(sameAs[operation] ?? operation);
  if (data === undefined) return {};
  if (route.paged !== true || !Array.isArray(data)) return { example: { data } };
  const total = data.length;
  return { example: { data, meta: { page: 1, limit: 20, total, totalPages: Math.ceil(total / 20) } } };
}

/** Returns the example of an event: the recorded body of a webhook call. */
export function eventExample(event: string): Example {
  const webhooks: Readonly<Record<string, unknown>> = recorded.webhooks;
  return event in webhooks ? { example: webhooks[event] } : {};
}

function dataOf(operation: string): unknown {
  const operations: Readonly<Record<string, unknown>> = recorded.operations;
  const data = operations[operation];
  return operation === "getDashboardStats" ? withAllDays(recorded.operations.getDashboardStats) : data;
}

/** Adds the days that are not recorded: without messages, like the oldest recorded day. */
function withAllDays({ days, ...stats }: { days: { date: string }[] }): unknown {
  const [newest = "", oldest] = [days[0]?.date, days.at(-1)];
  return {
    ...stats,
    days: Array.from({ length: 30 }, (_, age) => ({
      ...(days[age] ?? oldest),
      date: new Date(Date.parse(newest) - age * dayMs).toISOString().slice(0, "yyyy-mm-dd".length),
    })),
  };
}
