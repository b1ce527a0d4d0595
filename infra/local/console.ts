import { styleText } from "node:util";

import * as z from "zod/mini";

import type { LogFields } from "../../shared/platform/log.ts";

/*
 * Turns the functions' log into lines for a person. It shows requests, final results of messages, calls of webhooks,
 * warnings and errors. `npm start -- --json` shows the log as it is written.
 */

const LoggedError = z.object({ name: z.optional(z.string()), message: z.string() });

/** The fields of a line of `shared/platform/log.ts` that are shown. */
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

/** The beginning of each line of metrics in CloudWatch's format. */
const metricsStart = '{"_aws"';

/** Events that a worker logs in each run, even when there was no work. */
const routineEvents: ReadonlySet<string> = new Set(["edge.checked", "wallets.reconciled"]);

/**
 * Formats a line of a function's log for a person, in color where standard output is a terminal.
 * @returns undefined for lines that only machines need; a line in another format stays as it is
 */
export function consoleLine(line: string): string | undefined {
  if (line.startsWith(metricsStart)) return undefined;
  const { data } = LogLine.safeParse(parse(line));
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

/** Returns the subject of a line: its route, ids and numbers. */
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
  return texts.join(", caused by ").replaceAll(/\s+/g, " ");
}

function statusText(status: number | undefined): string {
  if (status === undefined) return styleText("red", "no response");
  return styleText(status < 400 ? "green" : status < 500 ? "yellow" : "red", String(status));
}

/** Pads the first column, so that the next one is aligned. */
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
