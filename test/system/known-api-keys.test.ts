import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { jsonResponse } from "../../infra/local/aws-requests.ts";
import type { AwsHandler, AwsRequest } from "../../infra/local/local-aws.ts";
import {
  resumeOrganization,
  setSendingPaused,
  suspendOrganization,
} from "../../shared/accounts/organizations/suspension.ts";
import type { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { now } from "../../shared/platform/clock.ts";
import type { EntityName } from "../../shared/platform/table/entities.ts";
import type { Changes } from "../../shared/platform/table/expressions.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import { isBy, type Fault } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

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

describe("a send with a known API key", () => {
  const isOrganizationRead = ({ operation, body }: AwsRequest): boolean =>
    operation === "dynamodb:GetItem" && body.includes(`"ORG#${customer.organizationId}"`);
  const isByApi = isBy("SendSms", "dynamodb:GetItem");
  const readsByApi = (): boolean[] =>
    faults.seen
      .filter((each) => isByApi(each) && isOrganizationRead(each))
      .map(({ body }) => body.includes('"ConsistentRead":true'));
  const send = async (
    fields: Record<string, unknown> = {},
    credential = apiKey.secret,
  ): Promise<ApiResponse> => {
    const json = { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP", ...fields };
    return customer.call("/v1/sms/send", { json, credential });
  };

  beforeEach(async () => {
    await send();
    faults.clear();
  });

  it("uses an organization of the last second, but its debit is rejected as soon as it is suspended or paused", async () => {
    const statuses = (await Promise.all([send(), send(), send()])).map(({ status }) => status);
    expect(statuses).toEqual([202, 202, 202]);
    // Sends at the same moment share one read, which is eventually consistent.
    expect(readsByApi()).toEqual([false]);
    // A message that is still queued when its organization is suspended fails, and is refunded.
    await vi.waitFor(async () => {
      const { rows } = await customer.client.listSms();
      expect(rows.map(({ status }) => status)).toEqual(["sent", "sent", "sent", "sent"]);
    }, patience);
    const balance = await customer.balance();
    const testKey = await customer.client.createApiKey({ body: { test: true } });
    expect((await send({}, testKey.secret)).status).toBe(202);
    await suspendOrganization(customer.organizationId, "Ticket 7");
    expect(errorOf(await send())).toEqual(suspended);
    // A test message has no debit.
    expect(errorOf(await send({}, testKey.secret))).toEqual(suspended);
    await resumeOrganization(customer.organizationId);
    expect((await send()).status).toBe(202);
    await setSendingPaused(customer.organizationId, true);
    expect(errorOf(await send())).toEqual({ status: 403, code: "SENDING_PAUSED" });
    await setSendingPaused(customer.organizationId, false);
    expect(await customer.balance()).toBe(balance - 0.0079);
  });

  it("is accepted as soon as a suspension ends", async () => {
    await suspendOrganization(customer.organizationId, "Ticket 7");
    expect(errorOf(await send())).toEqual(suspended);
    await resumeOrganization(customer.organizationId);
    expect((await send()).status).toBe(202);
  });

  it("without a sender ID has the default that was set just before", async () => {
    expect(errorOf(await send({ senderId: undefined }))).toMatchObject({ code: "MISSING_SENDER_ID" });
    await change(keys.organization(customer.organizationId), { set: { defaultSenderId: "BOBSHOP" } });
    const { id } = dataOf(await send({ senderId: undefined }), AcceptedMessage);
    expect((await customer.message(id)).senderId).toBe("BOBSHOP");
  });
});
