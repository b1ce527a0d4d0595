import { GetCommand, QueryCommand } from "../../shared/platform/aws/dynamodb.ts";
import { SendMessageBatchCommand, SendMessageCommand } from "../../shared/platform/aws/sqs.ts";

/*
 * The requests of functions to AWS, as all models carry them out. Faults happen to them, and the client repeats some of them.
 */

/** The faults of a request. */
export const requestFaults = [
  "request lost",
  "response lost",
  "server error",
  "late",
  "throttled",
  "conflict",
  "dies before",
  "dies after",
] as const;
export type RequestFault = (typeof requestFaults)[number];

/** A failed request's error, as the client sees it. */
export class Fallible extends Error {
  override readonly name: string;
  readonly $metadata: { readonly httpStatusCode?: number };

  constructor(name: string, httpStatusCode?: number) {
    super(name);
    this.name = name;
    this.$metadata = httpStatusCode === undefined ? {} : { httpStatusCode };
  }
}

interface Attempt {
  readonly carryOut: () => unknown;
  /** Ends the function that makes the request. It returns only if there is none. */
  readonly die: () => Promise<void>;
  /** Lets the request arrive after its sender has stopped waiting. */
  readonly later: (arrive: () => void) => void;
}

/** Carries out a request, to which a fault may happen. */
export async function attempt(
  fault: RequestFault | undefined,
  { carryOut, die, later }: Attempt,
): Promise<unknown> {
  switch (fault) {
    case "request lost":
      throw new Fallible("TimeoutError");
    case "throttled":
      throw new Fallible("ProvisionedThroughputExceededException");
    case "conflict":
      throw new Fallible("TransactionConflictException");
    case "dies before":
      await die();
      break;
    case "late":
      later(() => carryOutUnheard(carryOut));
      throw new Fallible("TimeoutError");
    case "response lost":
      carryOutUnheard(carryOut);
      throw new Fallible("TimeoutError");
    case "server error":
      carryOutUnheard(carryOut);
      throw new Fallible("InternalServerError", 500);
    case "dies after":
      carryOutUnheard(carryOut);
      await die();
      break;
    case undefined:
  }
  return carryOut();
}

function carryOutUnheard(carryOut: () => unknown): void {
  try {
    carryOut();
  } catch {
    // A rejection whose response is lost changes nothing.
  }
}

/** Repeats a failed request as long as its client does. */
export async function withRetries(
  request: () => Promise<unknown>,
  repeats: (failed: { readonly error: unknown; readonly attempts: number }) => boolean,
): Promise<unknown> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Fallible && repeats({ error, attempts }))) throw error;
    }
  }
}

/** Whether a request may return what was there before the last changes. */
export function mayBeOld(command: object): boolean {
  const isRead = command instanceof GetCommand || command instanceof QueryCommand;
  return isRead && command.input.ConsistentRead !== true;
}

/** A job that a function puts onto a queue. */
interface QueuedJob {
  readonly url: string;
  readonly body: string;
  readonly delaySeconds: number;
}

/** The jobs of a request to SQS. */
export function jobsOf(command: object): QueuedJob[] {
  const sent =
    command instanceof SendMessageCommand
      ? [command.input]
      : command instanceof SendMessageBatchCommand
        ? (command.input.Entries ?? []).map((entry) => ({ ...entry, QueueUrl: command.input.QueueUrl }))
        : [];
  return sent.map(({ QueueUrl = "", MessageBody = "", DelaySeconds = 0 }) => ({
    url: QueueUrl,
    body: MessageBody,
    delaySeconds: DelaySeconds,
  }));
}
