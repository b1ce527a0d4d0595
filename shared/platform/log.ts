import { causingRequestId } from "./call-context.ts";
import { now } from "./clock.ts";
import { countFault } from "./metrics.ts";

/**
 * The fields of a log line. The list is closed on purpose: it has no field for a body, a message text, a full phone number, a
 * token or a secret.
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
  /** The messages that a request has accepted. */
  readonly messageIds?: readonly string[] | undefined;
  /** The requests to AWS of a call, and the sum of their times. */
  readonly awsCalls?: number | undefined;
  readonly awsMs?: number | undefined;
  /** The partition keys in a request that DynamoDB throttled, as far as they name no person, and its reasons. */
  readonly throttledKeys?: readonly string[] | undefined;
  readonly throttlingReasons?: readonly string[] | undefined;
  readonly campaignId?: string | undefined;
  readonly paymentId?: string | undefined;
  readonly providerPaymentId?: string | undefined;
  /** How a payment differs from the provider's. */
  readonly difference?: string | undefined;
  /** The name of a carrier. */
  readonly carrier?: string | undefined;
  /** The country of some of its messages, the share of them that succeeded, and the usual one. */
  readonly country?: string | undefined;
  readonly share?: number | undefined;
  readonly usualShare?: number | undefined;
  readonly webhookId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly emailId?: string | undefined;
  /** The kind of an email. */
  readonly emailKind?: string | undefined;
  /** Why emails to an address are suppressed. */
  readonly reason?: "bounce" | "complaint" | undefined;
  readonly queueMessageId?: string | undefined;
  /** Keys of items in the table, without emails and phone numbers. */
  readonly recordKeys?: readonly string[] | undefined;
  readonly errorCode?: string | undefined;
  /** A carrier's code, never its text. */
  readonly providerCode?: string | undefined;
  /** The last attempts to submit a message. */
  readonly attempts?: readonly LoggedAttempt[] | undefined;
  readonly attempt?: number | undefined;
  readonly count?: number | undefined;
  readonly seq?: number | undefined;
  /** The seal of an audit log. */
  readonly hash?: string | undefined;
  readonly amountMicros?: number | undefined;
  /** The usual amount of a day in a country. */
  readonly usualMicros?: number | undefined;
  /** An unexpected error: its name, message and stack. Its message must not quote the caller's input. */
  readonly error?: unknown;
}

/** An attempt to submit a message, with the carrier's name and code. */
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
    requestId: causingRequestId(),
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

/** Writes one JSON object a line to standard output. `event` is a fixed name to search for, never a sentence. */
export const log = {
  info: (event: string, fields: LogFields = {}): void => write("info", event, fields),
  warn: (event: string, fields: LogFields = {}): void => write("warn", event, fields),
  /** Writes an error that is never normal. It also counts as a fault of the running version of the function. */
  error: (event: string, fields: LogFields = {}): void => {
    write("error", event, fields);
    countFault();
  },
};
