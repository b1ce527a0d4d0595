import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { Database } from "../../infra/local/store/database.ts";
import { normalizeNumber } from "../../infra/local/store/decimal.ts";
import { ServiceError } from "../../infra/local/store/service-error.ts";
import { Tables } from "../../infra/local/store/tables.ts";
import type { Request, Sequence } from "./random-requests.ts";

/** The response of a DynamoDB, without the order of sets, of fields, and of unordered items. */
export interface Response {
  /** The type of an error. */
  readonly error?: string;
  readonly body: unknown;
}

/** A server that responds to requests as DynamoDB does. */
export type Implementation = (request: Request) => Promise<Response>;

/** The responses of the local store, in memory. */
export function ownImplementation(): Implementation {
  const tables = new Tables(new Database(undefined));
  return async ({ operation, input }) => {
    try {
      return answerOf(undefined, tables.execute(operation, structuredClone(input)));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return answerOf(error.type, { ...error.details, message: error.message });
    }
  };
}

const RejectedError = z.looseObject({ __type: z.optional(z.string()) });

/** The responses of a DynamoDB that speaks HTTP, without permissions. */
export function implementationAt(endpoint: string): Implementation {
  return async ({ operation, input }) => {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDB_20120810.${operation}`,
        "x-amz-date": "20260101T000000Z",
        authorization:
          "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      },
      body: JSON.stringify(input),
    });
    const { __type: type = "", ...body } = RejectedError.parse(JSON.parse(await response.text()));
    return answerOf(response.ok ? undefined : type.split("#").at(-1), body);
  };
}

/**
 * The known differences between Amazon's DynamoDB Local and DynamoDB, whose documentation the local store follows.
 * Responses with such a difference count as the same. Two more differences do not matter here. DynamoDB Local keeps the
 * notation of some numbers, which the comparison ignores. It also keeps fields of indexes whose type an update changes,
 * and no request here does that.
 */
function isKnownDifference(request: Request, own: Response, other: Response): boolean {
  const { operation, input } = request;
  // It counts the capacity of a transaction once, that of an empty page not at all, and some of it unasked.
  if (isEqualWithout("ConsumedCapacity", own, other)) {
    const isEmpty = JSON.stringify(own.body).includes('"ScannedCount":0');
    return operation.startsWith("Transact") || isEmpty || !("ReturnConsumedCapacity" in input);
  }
  const errors = `${own.error}, ${other.error}`;
  if (operation === "TransactWriteItems") {
    // It rejects the request if an update does not fit the item, and does not cancel the transaction.
    if (errors === "TransactionCanceledException, ValidationException") {
      return JSON.stringify(own.body).includes("ValidationError");
    }
    // It compares the number in the key of a put with those of other writes as texts. It stores it without an exponent or
    // zeros at its end, so it misses two writes of one item.
    if (errors === "ValidationException, undefined") {
      return /"Put":.*"N":"(-?\dE[^"]+|\d\.\d*0)"/.test(JSON.stringify(input));
    }
    // It checks conditions before it checks for two writes of one item.
    return errors === "ValidationException, TransactionCanceledException";
  }
  // It returns a further old element if an update removes two elements of a list, one of them after the list's end.
  if (operation === "UpdateItem" && input["ReturnValues"] === "UPDATED_OLD") {
    return removesTwoElements(String(input["UpdateExpression"])) && isEqualWithout("Attributes", own, other);
  }
  if (operation !== "Query") return false;
  // It omits LastEvaluatedKey when a full page ends at the last key that the range allows.
  if (errors === "undefined, undefined" && "Limit" in input && !hasField(other, "LastEvaluatedKey")) {
    return endsAtBound(input, own) && isEqualWithout("LastEvaluatedKey", own, other);
  }
  // It rejects a start after the last key of a range, where a page may have ended.
  return "ExclusiveStartKey" in input && errors === "undefined, ValidationException"
    ? JSON.stringify(own.body).includes('"ScannedCount":0')
    : false;
}

/** Whether an update removes two elements of one list. */
function removesTwoElements(expression: string): boolean {
  return /REMOVE [^A-Z]*(?<list>#?\w+)\[\d+\][^A-Z]*, \k<list>\[\d+\]/.test(expression);
}

const KeyRange = z.looseObject({ ExpressionAttributeValues: z.record(z.string(), z.unknown()) });
const Page = z.looseObject({ LastEvaluatedKey: z.looseObject({ sk: z.unknown() }) });

/** Whether a page of a query ends at one of the values that limit its range. */
function endsAtBound(input: unknown, answer: Response): boolean {
  const page = Page.safeParse(answer.body);
  if (!page.success) return false;
  const { ":from": from, ":to": to } = KeyRange.parse(input).ExpressionAttributeValues;
  const last = JSON.stringify(page.data.LastEvaluatedKey.sk);
  return [from, to].some((bound) => JSON.stringify(normalised(bound)) === last);
}

function hasField({ body }: Response, name: string): boolean {
  return typeof body === "object" && body !== null && name in body;
}

function isEqualWithout(field: string, one: Response, other: Response): boolean {
  return JSON.stringify(without(field, one)) === JSON.stringify(without(field, other));
}

function without(field: string, { error, body }: Response): unknown {
  if (typeof body !== "object" || body === null) return { error, body };
  return { error, body: { ...body, [field]: undefined, ConsumedCapacity: undefined } };
}

/** The fields of responses that are compared. The words of errors are not. */
const compared = new Set([
  "Attributes",
  "CancellationReasons",
  "ConsumedCapacity",
  "Count",
  "Item",
  "Items",
  "LastEvaluatedKey",
  "Responses",
  "ScannedCount",
  "UnprocessedItems",
  "UnprocessedKeys",
]);

function answerOf(error: string | undefined, body: object): Response {
  const fields = Object.entries(body).filter(([name]) => compared.has(name));
  return {
    ...(error === undefined ? {} : { error }),
    body: normalised(Object.fromEntries(fields)),
  };
}

function normalised(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const each = value.map((element) => normalised(element));
    // It keeps numbers of a set that is in a list as they were written.
    if (name === "NS") return sorted(value.map((member) => normalizeNumber(String(member))));
    return name === "SS" || name === "BS" ? sorted(each) : each;
  }
  if (name === "N") return normalizeNumber(String(value));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => field !== "Message")
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([field, each]) => [field, normalised(each, field)]),
  );
}

function sorted(values: readonly unknown[]): unknown[] {
  return values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** A response without the order of its items, for reads whose order DynamoDB does not promise. */
function comparable({ operation, input }: Request, { error, body }: Response): Response {
  const isUnordered = operation === "Scan" || "IndexName" in input || operation === "BatchGetItem";
  return { ...(error === undefined ? {} : { error }), body: isUnordered ? unordered(body) : body };
}

function unordered(body: unknown): unknown {
  if (Array.isArray(body)) return sorted(body);
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (name === "Items") return [name, unordered(value)];
      // A batch has a list for each table.
      if (name !== "Responses") return [name, value];
      return [
        name,
        Object.fromEntries(Object.entries(value).map(([table, items]) => [table, unordered(items)])),
      ];
    }),
  );
}

/** All responses to a sequence, in a table that is created for it and deleted. */
export async function responsesTo(
  { definition, requests }: Sequence,
  implementation: Implementation,
): Promise<Response[]> {
  await implementation({ operation: "CreateTable", input: definition });
  const responses: Response[] = [];
  for (const request of requests) {
    if (request.isRepeated !== true) {
      responses.push(await implementation(request));
      continue;
    }
    const ClientRequestToken = randomUUID();
    const repeated = { ...request, input: { ...request.input, ClientRequestToken } };
    responses.push(await implementation(repeated), await implementation(repeated));
  }
  const { TableName } = definition;
  await implementation({ operation: "DeleteTable", input: { TableName } });
  return responses;
}

/**
 * Describes the first difference between two implementations about a sequence, with the request and both responses.
 * @returns undefined if all differences are known ones
 */
export function difference(
  { requests }: Sequence,
  own: readonly Response[],
  other: readonly Response[],
): string | undefined {
  // A transaction that is sent twice has two responses.
  const sent = requests.flatMap((request) => (request.isRepeated === true ? [request, request] : [request]));
  for (const [index, request] of sent.entries()) {
    const [one, another] = [own[index], other[index]].map((answer) =>
      comparable(request, answer ?? { body: undefined }),
    );
    if (one === undefined || another === undefined) continue;
    if (JSON.stringify(one) === JSON.stringify(another)) continue;
    if (!isKnownDifference(request, one, another)) {
      return `${JSON.stringify(request)}\n own:   ${JSON.stringify(one)}\n other: ${JSON.stringify(another)}`;
    }
    // From here on the two have different items.
    if ((one.error === undefined) !== (another.error === undefined)) return undefined;
  }
  return undefined;
}
