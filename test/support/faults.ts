import {
  errorResponse,
  type AwsHandler,
  type AwsRequest,
  type AwsResponse,
} from "../../infra/local/local-aws.ts";

/** A fault of a request to AWS. */
export type Fault = (request: AwsRequest, next: AwsHandler) => Promise<AwsResponse>;

/** The request is executed, but the connection breaks before the response. */
export const dropAnswer: Fault = async (request, next) => {
  await next(request);
  throw new Error("the response was dropped");
};

/** The request is executed, but the response is an internal error. */
export const answer500: Fault = async (request, next) => {
  await next(request);
  return errorResponse("InternalServerError", "internal", 500);
};

/** The request is executed, but the response arrives after the caller's timeout. */
export function answerAfter(ms: number): Fault {
  return async (request, next) => {
    const response = await next(request);
    return new Promise((resolve) => {
      setTimeout(() => resolve(response), ms);
    });
  };
}

/** The connection breaks, and the request arrives only when `arrive` is called. */
export function heldBack(): { readonly fault: Fault; arrive(): Promise<AwsResponse> } {
  let arrive: () => Promise<AwsResponse> = async () => {
    throw new Error("there was no such request");
  };
  return {
    fault: async (request, next) => {
      arrive = async () => next(request);
      throw new Error("the connection broke");
    },
    arrive: async () => arrive(),
  };
}

/** The request is rejected without being executed, with DynamoDB's reason. */
export const throttle: Fault = async () => {
  const rejected = errorResponse("ProvisionedThroughputExceededException", "slow down");
  const ThrottlingReasons = [{ reason: "TableWriteKeyRangeThroughputExceeded", resource: "arn" }];
  return { ...rejected, body: JSON.stringify({ ...JSON.parse(rejected.body), ThrottlingReasons }) };
};

/** The request conflicts with a transaction on the same item. */
export const conflict: Fault = async () => errorResponse("TransactionConflictException", "conflict");

/** A transaction conflicts with another one on the same items and is not executed. */
export const collision: Fault = async () => {
  const rejected = errorResponse("TransactionCanceledException", "cancelled");
  const body = { ...JSON.parse(rejected.body), CancellationReasons: [{ Code: "TransactionConflict" }] };
  return { ...rejected, body: JSON.stringify(body) };
};

/** The request never arrives. */
export const loseRequest: Fault = async () => {
  throw new Error("the request was lost");
};

interface Rule {
  readonly matches: (request: AwsRequest) => boolean;
  readonly fault: Fault;
  remaining: number;
}

/** Injects faults between the functions of a gateway and the emulated AWS. */
export class Faults {
  readonly #rules: Rule[] = [];
  /** Every request that was made, as `function operation`. */
  readonly seen: AwsRequest[] = [];

  /** Injects a fault into the next matching requests, by default one. */
  next(matches: (request: AwsRequest) => boolean, fault: Fault, times = 1): void {
    this.#rules.push({ matches, fault, remaining: times });
  }

  clear(): void {
    this.#rules.length = 0;
    this.seen.length = 0;
  }

  readonly interceptor = async (request: AwsRequest, next: AwsHandler): Promise<AwsResponse> => {
    this.seen.push(request);
    const rule = this.#rules.find((each) => each.remaining > 0 && each.matches(request));
    if (rule === undefined) return next(request);
    rule.remaining -= 1;
    return rule.fault(request, next);
  };
}

/** The debit of a send. */
export function isDebit(request: AwsRequest): boolean {
  return isWalletUpdate(request) && request.body.includes("messageCount");
}

/** The update in which a send begins a new day of the spending limits. */
export function isReckoning(request: AwsRequest): boolean {
  return isWalletUpdate(request) && !request.body.includes("messageCount");
}

function isWalletUpdate({ operation, functionName, body }: AwsRequest): boolean {
  return operation === "dynamodb:UpdateItem" && functionName.includes("SendSms") && body.includes("WALLET#");
}

/** The write of the ledger entry that confirms a message, alone or in a transaction. */
export function isRecord({ operation, functionName, body }: AwsRequest): boolean {
  const isWrite = operation === "dynamodb:PutItem" || operation === "dynamodb:TransactWriteItems";
  return isWrite && functionName.includes("SendSms") && body.includes("LEDGER#") && !body.includes('"void"');
}

/** The write of a message before its ledger entry. */
export function isMessage({ operation, functionName, body }: AwsRequest): boolean {
  return operation === "dynamodb:PutItem" && functionName.includes("SendSms") && body.includes("MESSAGES#");
}

/** Any request of one function. */
export function isBy(name: string, operation?: string): (request: AwsRequest) => boolean {
  return (request) =>
    request.functionName.includes(name) && (operation === undefined || request.operation === operation);
}
