import { ApiError } from "../../api/contract/errors.ts";
import { DynamoDb } from "../aws/dynamodb.ts";
import { patientAttempts } from "../aws/retry.ts";

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
  return new DynamoDb({ maxAttempts, maxUnheardAttempts, failure: unavailableIfBusy });
}

/** The errors of a valid request that DynamoDB has no capacity for now. */
const busyErrors = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingException",
  "TransactionConflictException",
]);

function unavailableIfBusy(error: unknown): unknown {
  const isBusy = error instanceof Error && busyErrors.has(error.name);
  return isBusy ? new ApiError("UNAVAILABLE", { cause: error }) : error;
}
