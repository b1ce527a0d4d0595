import { ApiError } from "../../api/contract/errors.ts";
import type { CommandRequest } from "../aws/client.ts";
import { DynamoDb } from "../aws/dynamodb.ts";
import { isAwsError } from "../aws/errors.ts";
import { patientAttempts } from "../aws/retry.ts";
import { now, secondMs } from "../clock.ts";
import { log } from "../log.ts";

/** The errors of a throttled request. */
const throttles = ["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"];

/** The time between two lines about a throttled request. */
const quietMs = 10 * secondMs;
let loggedAtMs = 0;

/** Logs whose items DynamoDB throttles, which its metrics do not name. */
class TableClient extends DynamoDb {
  protected override noteFailure({ body }: CommandRequest, error: unknown): void {
    if (!isAwsError(error, ...throttles) || now().getTime() - loggedAtMs < quietMs) return;
    loggedAtMs = now().getTime();
    const reasons: unknown = Reflect.get(error, "ThrottlingReasons");
    const throttlingReasons = Array.isArray(reasons)
      ? reasons.map((each) => String(Object(each).reason))
      : [];
    log.warn("table.throttled", {
      throttledKeys: keysIn(String(body)),
      throttlingReasons,
      errorCode: error.name,
    });
  }
}

/** A partition key in a request. */
const partitionKey = /":?pk":\{"S":"([A-Z_]+(?:#org_\w+|(?<=PACE)#[a-z\d-]+)?)/g;

/** Returns the partition keys in a request: their families, with an organization or a carrier, and without emails and numbers. */
function keysIn(body: string): string[] {
  return [...new Set(Array.from(body.matchAll(partitionKey), ([, key = ""]) => key))];
}

// The bundler leaves out a client that a function does not use: the calls only make an object.
export const client = /* @__PURE__ */ tableClient(3);

/**
 * The client for writes that must not be applied twice and are not idempotent by themselves. It repeats an attempt only if
 * DynamoDB reported that it did not apply the attempt before.
 */
export const singleEffectClient = /* @__PURE__ */ tableClient(1);

/** The client for writes that are not worth waiting for: it sends them once. */
export const bestEffortClient = /* @__PURE__ */ tableClient(1, 1);

function tableClient(maxUnheardAttempts: number, maxAttempts = patientAttempts): DynamoDb {
  return new TableClient({ maxAttempts, maxUnheardAttempts, failure: unavailableIfBusy });
}

/** The errors of a valid request that DynamoDB has no capacity for now. */
const busyErrors = new Set([...throttles, "TransactionConflictException"]);

function unavailableIfBusy(error: unknown): unknown {
  const isBusy = error instanceof Error && busyErrors.has(error.name);
  return isBusy ? new ApiError("UNAVAILABLE", { cause: error }) : error;
}
