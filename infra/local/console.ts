import { styleText } from "node:util";

import * as z from "zod/mini";

import type { LogFields } from "../../shared/platform/log.ts";

/*
 * What a person sees of the functions' log: a line for each request, each message that came to its end, each call of
 * a webhook, and all that went wrong. `npm start -- --json` shows the log as it is written.
 */

const LoggedError = z.object({ name: z.optional(z.string()), message: z.string() });

/** A line of `shared/platform/log.ts`, as far as it is shown. */
const LogLine = z.object({
  level: z.enum(["error", "info", "warn"]),
  time: z.iso.datetime(),
  event: z.string(),
  route: z.optional(z.string()),
  status: z.optional(z.int()),
  durationMs: z.optional(z.number()),
  organizationId: z.optional(z.string()),
  messageId: z.optional(z.string()),
  campaignId: z.optional(z.string()),
  webhookId: z.optional(z.string()),
  errorCode: z.optional(z.string()),
  attempt: z.optional(z.int()),
  count: z.optional(z.int()),
  error: z.optional(z.extend(LoggedError, { cause: z.optional(LoggedError) })),
} satisfies Partial<Record<keyof LogFields | "event" | "level" | "time", z.ZodMiniType>>);
type LogLine = z.infer<typeof LogLine>;

/** Counts in CloudWatch's format. */
const MetricsLine = z.object({ _aws: z.unknown() });

/** What is written each time that a worker runs, whether or not there was something to do. */
const routineEvents: ReadonlySet<string> = new Set(["wallets.reconciled"]);

/**
 * A line that a function wrote, for a person; coloured where standard output is a terminal.
 * @returns undefined when it says nothing to a person; what is not of the log's form stays as it is
 */
export function consoleLine(line: string): string | undefined {
  const content = parse(line);
  if (MetricsLine.safeParse(content).success) return undefined;
  const { data } = LogLine.safeParse(content);
  if (data === undefined) return line;
  const parts = partsOf(data);
  if (parts === undefined) return undefined;
  const [what, ...details] = parts;
  const time = styleText("dim", new Date(data.time).toTimeString().slice(0, "hh:mm:ss".length));
  return [time, what, ...details.filter((detail) => detail !== undefined)].join("  ").trimEnd();
}

type Parts = readonly [what: string, ...details: (string | undefined)[]];

function partsOf(line: LogLine): Parts | undefined {
  const { level, event, route, status, durationMs = 0, messageId, webhookId, attempt, errorCode } = line;
  if (event === "request") {
    if (route === "GET /health") return undefined;
    return [column(route ?? ""), statusText(status), `${durationMs} ms`.padStart(8), errorCode];
  }
  if (event === "message.sent") return [column("message sent"), messageId];
  if (event === "message.failed") {
    return [column("message failed"), styleText("yellow", errorCode ?? ""), messageId];
  }
  if (event === "webhook.called") {
    return [column("webhook called"), statusText(status), errorCode, webhookId, `attempt ${attempt}`];
  }
  if (level !== "info") {
    const what = level === "warn" ? styleText("yellow", column(event)) : styleText("red", column(event));
    return [what, ...contextOf(line), errorText(line)];
  }
  const isIdle = line.count === 0 || routineEvents.has(event);
  return isIdle ? undefined : [column(event), ...contextOf(line)];
}

/** Whom or what a line is about. */
function contextOf(line: LogLine): (string | undefined)[] {
  const { route, organizationId, messageId, campaignId, webhookId, attempt, count, errorCode } = line;
  return [
    route,
    messageId ?? campaignId ?? webhookId ?? organizationId,
    attempt === undefined ? undefined : `attempt ${attempt}`,
    count === undefined ? undefined : String(count),
    errorCode,
  ];
}

function errorText({ error }: LogLine): string | undefined {
  if (error === undefined) return undefined;
  const texts = [error, ...(error.cause === undefined ? [] : [error.cause])].map(({ name, message }) =>
    [name, message].filter((part) => part !== undefined).join(": "),
  );
  return texts.join(", because of ").replaceAll(/\s+/g, " ");
}

function statusText(status: number | undefined): string {
  if (status === undefined) return styleText("red", "no answer");
  return styleText(status < 400 ? "green" : status < 500 ? "yellow" : "red", String(status));
}

/** Makes what comes behind stand below each other, as long as it is not too long. */
function column(text: string): string {
  return text.padEnd(36);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
