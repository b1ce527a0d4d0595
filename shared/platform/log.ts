import { now } from "./clock.ts";
import { countFault } from "./metrics.ts";

/**
 * All that a log line may carry. The list is closed on purpose: a body, a message text, a full phone number,
 * a token or a secret has no field to go into.
 */
export interface LogFields {
  readonly requestId?: string | undefined;
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly organizationId?: string | undefined;
  readonly userId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  /** The address that a request came from. */
  readonly sourceIp?: string | undefined;
  readonly messageId?: string | undefined;
  readonly campaignId?: string | undefined;
  /** The name of a carrier. */
  readonly carrier?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly emailId?: string | undefined;
  /** What an email is about. */
  readonly emailKind?: string | undefined;
  /** Why no emails are sent to an address any more. */
  readonly reason?: "bounce" | "complaint" | undefined;
  readonly queueMessageId?: string | undefined;
  /** Keys of items in the table, as far as they are no email and no number. */
  readonly recordKeys?: readonly string[] | undefined;
  readonly errorCode?: string | undefined;
  /** A carrier's own code, never its words. */
  readonly providerCode?: string | undefined;
  /** The last attempts to hand a message to a carrier. */
  readonly attempts?: readonly LoggedAttempt[] | undefined;
  readonly attempt?: number | undefined;
  readonly count?: number | undefined;
  readonly seq?: number | undefined;
  readonly amountMicros?: number | undefined;
  /** An unexpected error: its name, message and stack. Never one whose message quotes the caller's input. */
  readonly error?: unknown;
}

/** An attempt to hand a message to a carrier, with the carrier's name and code. */
interface LoggedAttempt {
  readonly at: string;
  readonly carrier?: string | undefined;
  readonly outcome: string;
  readonly code?: string | undefined;
}

function write(level: "error" | "info" | "warn", event: string, fields: LogFields): void {
  const { error, ...rest } = fields;
  const line = {
    level,
    time: now().toISOString(),
    event,
    ...rest,
    ...(error === undefined ? {} : { error: describeError(error) }),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** One JSON object a line on standard output. `event` is a fixed name to search for, never a sentence. */
export const log = {
  info: (event: string, fields: LogFields = {}): void => write("info", event, fields),
  warn: (event: string, fields: LogFields = {}): void => write("warn", event, fields),
  /** What is never normal. It also speaks against the version of the function that writes it. */
  error: (event: string, fields: LogFields = {}): void => {
    write("error", event, fields);
    countFault();
  },
};
