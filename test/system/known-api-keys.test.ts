import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { jsonResponse } from "../../infra/local/aws-requests.ts";
import type { AwsHandler, AwsRequest } from "../../infra/local/local-aws.ts";
import type { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { now } from "../../shared/platform/clock.ts";
import type { EntityName } from "../../shared/platform/table/entities.ts";
import type { Changes } from "../../shared/platform/table/expressions.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { isBy, type Fault } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

const { gateway, faults } = await gatewayOfFile();
let customer: Customer;
let apiKey: CreatedApiKey;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  apiKey = await customer.createApiKey();
});

async function change<Name extends EntityName>(key: Key<Name>, changes: Changes<Name>): Promise<void> {
  const changed = await updateItem(z.unknown(), updateOf(key, changes, { present: ["pk"] }));
  expect(changed.applied).toBe(true);
}

async function byKey({ secret }: CreatedApiKey = apiKey): Promise<ApiResponse> {
  return customer.call("/v1/wallet", { credential: secret });
}

const unauthorized = { status: 401, code: "UNAUTHORIZED" };
const suspended = { status: 403, code: "ORGANIZATION_SUSPENDED" };

const StoredKey = z.looseObject({ pk: z.object({ S: z.string() }) });
const BatchRequest = z.object({ RequestItems: z.record(z.string(), z.object({ Keys: z.array(StoredKey) })) });
const BatchAnswer = z.object({ Responses: z.record(z.string(), z.array(StoredKey)) });

/** Returns at most a number of the items of a batch, as DynamoDB does if a partition is busy. */
function leavesOut(kept: number): Fault {
  return async (request: AwsRequest, next: AwsHandler) => {
    const { name } = gateway.stack.table;
    const { RequestItems } = BatchRequest.parse(JSON.parse(request.body));
    const { Responses } = BatchAnswer.parse(JSON.parse((await next(request)).body));
    const items = Responses[name]?.slice(0, kept) ?? [];
    const Keys = RequestItems[name]?.Keys.filter(({ pk }) => items.every((item) => item.pk.S !== pk.S));
    return jsonResponse(200, {
      Responses: { [name]: items },
      UnprocessedKeys: { [name]: { Keys, ConsistentRead: true } },
    });
  };
}

describe("an API key that its function knows", () => {
  const isKeyRead = ({ body }: AwsRequest): boolean => body.includes('"KEY#');
  const isBatch = isBy("GetWallet", "dynamodb:BatchGetItem");

  beforeEach(async () => {
    await byKey();
    faults.clear();
  });

  it("is read with its organization in one request, and consistently", async () => {
    expect((await byKey()).status).toBe(200);
    const reads = faults.seen.filter((request) => isKeyRead(request) || request.body.includes('"ORG#'));
    expect(reads.map(({ operation }) => operation)).toEqual(["dynamodb:BatchGetItem"]);
    expect(reads[0]?.body).toContain('"ConsistentRead":true');
  });

  it("ends with the next call, and so do all of a suspended organization, and of one that is gone", async () => {
    const key = keys.organization(customer.organizationId);
    await change(key, { set: { suspendedAt: now().toISOString() } });
    expect(errorOf(await byKey())).toEqual(suspended);
    await change(key, { remove: ["suspendedAt"] });
    expect((await byKey()).status).toBe(200);
    await customer.client.disableApiKey({ params: { id: apiKey.id } });
    expect(errorOf(await byKey())).toEqual(unauthorized);
    const other = await customer.createApiKey();
    expect((await byKey(other)).status).toBe(200);
    await deleteItem(key);
    expect(errorOf(await byKey(other))).toEqual(unauthorized);
  });

  it("is let in though a busy partition omits it from some responses, and gets an error if all omit it", async () => {
    faults.next(isBatch, leavesOut(1));
    faults.next(isBatch, leavesOut(0));
    expect((await byKey()).status).toBe(200);
    expect(faults.seen.filter(isBatch)).toHaveLength(3);
    faults.clear();
    faults.next(isBatch, leavesOut(0), 6);
    expect(errorOf(await byKey())).toEqual({ status: 503, code: "UNAVAILABLE" });
    expect((await byKey()).status).toBe(200);
  });
});
